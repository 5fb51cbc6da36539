import FeedimgModel
import FeedimgTransfer

/// Which origins get no requests for a while, since they failed again and again (pure).
///
/// A circuit opens after some failures in a row, or at once where a server sends `Retry-After`. While it is open, no load
/// asks the origin. After the cooldown the circuit is half-open: one load probes the origin, and either the circuit
/// closes or the cooldown doubles. It closes as soon as a response to the probe begins; the next failure before a whole
/// response opens it again for twice as long.
///
/// A load counts once, with its first failure, since its image may be to blame. Where no response came at all, each attempt
/// counts. Times come from a clock that never jumps.
struct CircuitBreaker: Sendable {
  enum Admission: Hashable, Sendable {
    case admitted
    /// The circuit is open for so long; how the origin failed last.
    case open(Duration, LoadError)
    /// The circuit is half-open, and another load probes.
    case probing
  }

  private struct Circuit: Sendable {
    var failures = 0
    /// When it becomes half-open; nil while it is closed.
    var opensUntil: Duration?
    var cooldown = Duration.zero
    /// Until when a probe may take; another one follows then.
    var probeUntil: Duration?
    /// Whether a load has asked in spite of this cooldown.
    var hasInsisted = false
    var seen: Duration
    var error: LoadError
  }

  /// Failures in a row that open a circuit.
  static let threshold = 5
  static let backoff = Backoff(base: .seconds(2), greatest: .seconds(300))
  /// No server keeps us away for longer.
  static let greatestRetryAfter = Duration.seconds(3600)
  private static let probeTime = Duration.seconds(30)
  private static let greatestCount = 512

  private var circuits: [String: Circuit] = [:]

  /// How many origins are remembered.
  var count: Int { circuits.count }

  /// Whether a request to an origin may go out now.
  ///
  /// One load may insist in each cooldown: a server that answers, if only with errors, may well have this image.
  func admission(_ origin: String, insisting: Bool = false, at now: Duration) -> Admission {
    guard let circuit = circuits[origin], let opensUntil = circuit.opensUntil else { return .admitted }
    if let until = circuit.probeUntil, now < until { return .probing }
    let insists =
      insisting && !circuit.hasInsisted && circuit.error.status != nil && circuit.error.retryAfter == nil
    return now >= opensUntil || insists ? .admitted : .open(opensUntil - now, circuit.error)
  }

  /// Sends a request, which is the probe of a half-open circuit; the load must report how it went.
  mutating func admit(_ origin: String, insisting: Bool = false, at now: Duration) -> Admission {
    let admission = admission(origin, insisting: insisting, at: now)
    guard admission == .admitted, let opensUntil = circuits[origin]?.opensUntil else { return admission }
    circuits[origin]?.hasInsisted = now < opensUntil
    circuits[origin]?.probeUntil = now + Self.probeTime
    circuits[origin]?.seen = now
    return .admitted
  }

  /// Whether the circuit of an origin is not closed.
  func isOpen(_ origin: String) -> Bool { circuits[origin]?.opensUntil != nil }

  /// When an origin may be probed at the latest; nil while its circuit is closed.
  func probeTime(_ origin: String) -> Duration? {
    guard let circuit = circuits[origin], let opensUntil = circuit.opensUntil else { return nil }
    return max(opensUntil, circuit.probeUntil ?? opensUntil)
  }

  /// How an origin failed last; nil where it has responded since.
  func lastError(_ origin: String) -> LoadError? { circuits[origin]?.error }

  /// Whether a circuit is open for failures, so that a load should not insist.
  func isOpenForFailures(_ origin: String) -> Bool {
    circuits[origin].map { $0.cooldown > .zero && $0.opensUntil != nil } ?? false
  }

  /// The response to the probe begins: the circuit closes, and the next failure opens it again.
  mutating func probeAnswered(_ origin: String) {
    guard circuits[origin]?.probeUntil != nil else { return }
    circuits[origin]?.probeUntil = nil
    circuits[origin]?.opensUntil = nil
  }

  /// The origin responded; the status does not matter.
  mutating func responded(_ origin: String) { circuits[origin] = nil }

  /// The probe was cancelled before anything was known: the next load may probe.
  mutating func probeCancelled(_ origin: String) {
    circuits[origin]?.probeUntil = nil
    circuits[origin]?.hasInsisted = false
  }

  /// An attempt failed.
  ///
  /// - Parameters:
  ///   - origin: The server.
  ///   - error: The failure, whose `retryAfter` opens the circuit at once.
  ///   - isProbe: Whether it was the probe.
  ///   - isRepeated: Whether the same load has failed before.
  ///   - begun: When its request went out, where a redirect led there; nil where it was asked directly.
  ///   - now: The time.
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
    var circuit = noted(origin, error, at: now)
    if isProbe { circuit.probeUntil = nil }
    if !isRepeated || isProbe || error.status == nil { circuit.failures += 1 }
    // While the circuit is open, only a probe prolongs it: requests that were out when it opened fail as well.
    let opens =
      if let opensUntil = before?.opensUntil, circuit.cooldown > .zero {
        now >= opensUntil && (isProbe || begun.map { $0 >= opensUntil } ?? false)
      } else {
        circuit.failures >= Self.threshold
      }
    if opens {
      circuit.cooldown = Self.backoff.next(after: circuit.cooldown)
      circuit.hasInsisted = false
      let reopening = now + Self.backoff.jittered(circuit.cooldown, using: &random)
      circuit.opensUntil =
        error.retryAfter == nil ? reopening : max(circuit.opensUntil ?? reopening, reopening)
    }
    circuits[origin] = circuit
  }

  private mutating func noted(_ origin: String, _ error: LoadError, at now: Duration) -> Circuit {
    if circuits.count >= Self.greatestCount, circuits[origin] == nil { makeRoom() }
    var circuit = circuits[origin] ?? Circuit(seen: now, error: error)
    (circuit.seen, circuit.error) = (now, error)
    if let asked = error.retryAfter {
      let wait = min(.seconds(min(asked, 1 << 32)), Self.greatestRetryAfter)
      circuit.opensUntil = max(circuit.opensUntil ?? now, now + wait)
    }
    return circuit
  }

  /// Forgets everything, as on another network.
  mutating func reset() { circuits = [:] }

  /// Whether an error speaks against an origin as a whole, and not only against one of its images.
  static func counts(_ error: LoadError) -> Bool {
    guard !error.isFromOldPath else { return false }
    switch error.code {
    case .connection, .timeout, .unknownHost, .security: return true
    // RFC 9110 §15.6, RFC 6585 §4 (429).
    case .status: return error.status.map { $0 == 429 || [500, 502, 503, 504].contains($0) } ?? false
    default: return false
    }
  }

  /// Forgets the half that was seen longest ago.
  private mutating func makeRoom() {
    let middle = circuits.values.map(\.seen).sorted()[circuits.count / 2]
    circuits = circuits.filter { $0.value.seen > middle }
  }
}

extension ImageURL {
  /// Scheme, host and port, which identify a server (RFC 6454 §4).
  var origin: String {
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
