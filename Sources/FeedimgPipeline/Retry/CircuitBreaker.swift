public import FeedimgModel
import FeedimgTransfer

/// Blocks requests to origins that failed repeatedly (pure).
///
/// A circuit opens after several failures in a row, or at once if a server sends `Retry-After`. While it is
/// open, loads send no requests to the origin. After the cooldown the circuit is half-open, and one load
/// probes the origin. The circuit closes as soon as a response to the probe begins; if the probe fails, the
/// cooldown doubles. A failure before the next complete response opens the circuit again for twice as long.
///
/// Only the first failure of a load counts, because its image may be the cause. Attempts without any response
/// all count. Times come from a monotonic clock.
struct CircuitBreaker: Sendable {
  enum Admission: Hashable, Sendable {
    case admitted
    /// The circuit is open for this duration, after this failure.
    case open(Duration, LoadError)
    /// The circuit is half-open, and another load probes the origin.
    case probing
  }

  private struct Circuit: Sendable {
    var failures = 0
    /// The time at which the circuit becomes half-open; nil while it is closed.
    var opensUntil: Duration?
    var cooldown = Duration.zero
    /// The time limit of the current probe; after it, another probe may start.
    var probeUntil: Duration?
    /// Whether a load has sent a request despite the current cooldown.
    var hasProbed = false
    var seen: Duration
    var error: LoadError
  }

  /// The number of failures in a row that opens a circuit.
  static let threshold = 5
  static let backoff = Backoff(base: .seconds(2), maximum: .seconds(300))
  /// The longest time for which `Retry-After` can block requests.
  static let maximumRetryAfter = Duration.seconds(3600)
  private static let probeTime = Duration.seconds(30)
  private static let maximumCount = 512

  private var circuits: [String: Circuit] = [:]

  var count: Int { circuits.count }

  /// Whether a request to an origin may go out now.
  ///
  /// One load may insist in each cooldown: a server that responds with errors may still have this image.
  func admission(_ origin: String, allowingProbe: Bool = false, at now: Duration) -> Admission {
    guard let circuit = circuits[origin], let opensUntil = circuit.opensUntil else { return .admitted }
    if let until = circuit.probeUntil, now < until { return .probing }
    let mayProbe =
      allowingProbe && !circuit.hasProbed && circuit.error.status != nil && circuit.error.retryAfter == nil
    return now >= opensUntil || mayProbe ? .admitted : .open(opensUntil - now, circuit.error)
  }

  /// Admits a request, which becomes the probe if the circuit is half-open; the load must report its result.
  mutating func admit(_ origin: String, allowingProbe: Bool = false, at now: Duration) -> Admission {
    let admission = admission(origin, allowingProbe: allowingProbe, at: now)
    guard admission == .admitted, let opensUntil = circuits[origin]?.opensUntil else { return admission }
    circuits[origin]?.hasProbed = now < opensUntil
    circuits[origin]?.probeUntil = now + Self.probeTime
    circuits[origin]?.seen = now
    return .admitted
  }

  /// Whether the circuit of an origin is open or half-open.
  func isOpen(_ origin: String) -> Bool { circuits[origin]?.opensUntil != nil }

  /// The time by which an origin may be probed; nil while its circuit is closed.
  func probeTime(_ origin: String) -> Duration? {
    guard let circuit = circuits[origin], let opensUntil = circuit.opensUntil else { return nil }
    return max(opensUntil, circuit.probeUntil ?? opensUntil)
  }

  /// The last failure of an origin; nil if it has responded since.
  func lastError(_ origin: String) -> LoadError? { circuits[origin]?.error }

  /// Whether a circuit is open because of failures, so that a load should not insist.
  func isOpenForFailures(_ origin: String) -> Bool {
    circuits[origin].map { $0.cooldown > .zero && $0.opensUntil != nil } ?? false
  }

  /// Closes the circuit when the response to the probe begins; the next failure opens it again.
  mutating func probeResponded(_ origin: String) {
    guard circuits[origin]?.probeUntil != nil else { return }
    circuits[origin]?.probeUntil = nil
    circuits[origin]?.opensUntil = nil
  }

  /// Forgets the failures of an origin that has responded, with any status.
  mutating func responded(_ origin: String) { circuits[origin] = nil }

  /// Ends a probe that was cancelled without a result, so that the next load may probe.
  mutating func probeCancelled(_ origin: String) {
    circuits[origin]?.probeUntil = nil
    circuits[origin]?.hasProbed = false
  }

  /// Records a failed attempt.
  ///
  /// - Parameters:
  ///   - origin: The origin of the server.
  ///   - error: The failure; its `retryAfter` opens the circuit at once.
  ///   - isProbe: Whether the attempt was the probe.
  ///   - isRepeated: Whether the same load has failed before.
  ///   - begun: When the request went out, if a redirect led to this origin; otherwise nil.
  ///   - now: The current time.
  ///   - random: The source of the jitter.
  mutating func failed(
    _ origin: String,
    _ error: LoadError,
    isProbe: Bool = false,
    isRepeated: Bool = false,
    redirectedAt begun: Duration? = nil,
    at now: Duration,
    using random: inout some RandomNumberGenerator
  ) {
    let before = circuits[origin]
    let isProbe = isProbe && before?.probeUntil != nil
    var circuit = recorded(origin, error, at: now)
    if isProbe { circuit.probeUntil = nil }
    if !isRepeated || isProbe || error.status == nil { circuit.failures += 1 }
    // While a circuit is open, only a probe extends it, because requests sent before it opened also fail.
    let opens =
      if let opensUntil = before?.opensUntil, circuit.cooldown > .zero {
        now >= opensUntil && (isProbe || begun.map { $0 >= opensUntil } ?? false)
      } else {
        circuit.failures >= Self.threshold
      }
    if opens {
      circuit.cooldown = Self.backoff.next(after: circuit.cooldown)
      circuit.hasProbed = false
      let reopening = now + Self.backoff.jittered(circuit.cooldown, using: &random)
      circuit.opensUntil =
        error.retryAfter == nil ? reopening : max(circuit.opensUntil ?? reopening, reopening)
    }
    circuits[origin] = circuit
  }

  private mutating func recorded(_ origin: String, _ error: LoadError, at now: Duration) -> Circuit {
    if circuits.count >= Self.maximumCount, circuits[origin] == nil { makeRoom() }
    var circuit = circuits[origin] ?? Circuit(seen: now, error: error)
    (circuit.seen, circuit.error) = (now, error)
    if let asked = error.retryAfter {
      let wait = min(.seconds(min(asked, 1 << 32)), Self.maximumRetryAfter)
      circuit.opensUntil = max(circuit.opensUntil ?? now, now + wait)
    }
    return circuit
  }

  /// Forgets all circuits, for example on another network.
  mutating func reset() { circuits = [:] }

  /// Whether an error indicates a problem of the whole origin, not only of one image.
  static func counts(_ error: LoadError) -> Bool {
    guard error.retry.reason != .pathChanged else { return false }
    switch error.code {
    case .connection, .timeout, .unknownHost, .security: return true
    // RFC 9110 §15.6, RFC 6585 §4 (429).
    case .status: return error.status.map { $0 == 429 || [500, 502, 503, 504].contains($0) } ?? false
    default: return false
    }
  }

  /// Forgets the half of the circuits that were used least recently.
  private mutating func makeRoom() {
    let middle = circuits.values.map(\.seen).sorted()[circuits.count / 2]
    circuits = circuits.filter { $0.value.seen > middle }
  }
}

extension ImageURL {
  /// The scheme, host and port, which identify a server (RFC 6454 §4), such as `https://x.example`.
  ///
  /// In lower case, without a default port.
  public var origin: String {
    // The key has the form `scheme://[user@]host[:port]/…`, in lower case, without a default port.
    let bytes = key.utf8
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return key }
    let start = bytes.index(colon, offsetBy: 3)
    let end =
      bytes[start...].firstIndex {
        $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#")
      } ?? bytes.endIndex
    guard let sign = bytes[start..<end].lastIndex(of: UInt8(ascii: "@")) else { return String(key[..<end]) }
    return String(key[..<start] + key[bytes.index(after: sign)..<end])
  }
}
