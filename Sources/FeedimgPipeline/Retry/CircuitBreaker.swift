import FeedimgModel
import FeedimgSystem

/// Blocks requests to origins that failed repeatedly (pure).
///
/// A circuit opens after several failures in a row, or at once if a server sends `Retry-After`. After the
/// cooldown the circuit is half-open, and one load probes the origin. A response closes the circuit. If the
/// probe fails, the cooldown doubles. Times come from a monotonic clock.
struct CircuitBreaker: Sendable {
  enum Admission: Hashable, Sendable {
    case admitted
    /// The circuit is open for this duration, after this failure.
    case open(Duration, LoadError)
    /// The circuit is half-open after this failure, and another load probes the origin.
    case probing(LoadError)
  }

  struct Circuit: Sendable {
    var failures = 0
    /// How often the circuit has opened since the last response.
    var openings = 0
    /// The time at which the circuit becomes half-open; nil while it is closed.
    var opensUntil: Duration?
    /// The time limit of the current probe; after it, another load may probe.
    var probeUntil: Duration?
    var error: LoadError
  }

  /// The number of failures in a row that opens a circuit.
  static let threshold = 5
  static let backoff = Backoff(base: .seconds(2), maximum: .seconds(300))
  /// The longest time for which `Retry-After` can block requests.
  static let maximumRetryAfter = Duration.seconds(3600)
  private static let probeTime = Duration.seconds(30)
  private static let maximumCount = 512

  private(set) var circuits: [String: Circuit] = [:]

  /// Whether a request to an origin may go out now.
  func admission(_ origin: String, at now: Duration) -> Admission {
    guard let circuit = circuits[origin], let opensUntil = circuit.opensUntil else { return .admitted }
    if let until = circuit.probeUntil, now < until { return .probing(circuit.error) }
    return now >= opensUntil ? .admitted : .open(opensUntil - now, circuit.error)
  }

  /// Admits a request, which becomes the probe if the circuit is half-open; the load must report its result.
  ///
  /// - Returns: Whether the request is a probe; nil if it must not go out.
  mutating func admit(_ origin: String, at now: Duration) -> Bool? {
    guard admission(origin, at: now) == .admitted else { return nil }
    guard isOpen(origin) else { return false }
    circuits[origin]?.probeUntil = now + Self.probeTime
    return true
  }

  /// Whether the circuit of an origin is open or half-open.
  func isOpen(_ origin: String) -> Bool { circuits[origin]?.opensUntil != nil }

  /// The time by which an origin may be probed; nil while its circuit is closed.
  func probeTime(_ origin: String) -> Duration? {
    guard let circuit = circuits[origin], let opensUntil = circuit.opensUntil else { return nil }
    return max(opensUntil, circuit.probeUntil ?? opensUntil)
  }

  /// Forgets the failures of an origin that has responded.
  mutating func responded(_ origin: String) { circuits[origin] = nil }

  /// Ends a probe, so that the next load may probe.
  mutating func probeEnded(_ origin: String) { circuits[origin]?.probeUntil = nil }

  /// Records a failed attempt.
  ///
  /// - Parameters:
  ///   - origin: The origin of the server.
  ///   - error: The failure; its `retryAfter` opens the circuit at once.
  ///   - begun: When the request went out.
  ///   - isRepeated: Whether the same load has failed before. Its image may be the cause, so such a response
  ///     does not count.
  ///   - now: The current time.
  ///   - random: The source of the jitter.
  mutating func failed(
    _ origin: String,
    _ error: LoadError,
    since begun: Duration,
    isRepeated: Bool = false,
    at now: Duration,
    using random: inout some RandomNumberGenerator
  ) {
    if circuits.count >= Self.maximumCount, circuits[origin] == nil { circuits = [:] }
    var circuit = circuits[origin] ?? Circuit(error: error)
    circuit.error = error
    if !isRepeated || error.status == nil { circuit.failures += 1 }
    // Only requests sent after an open circuit became half-open extend it, because earlier ones also fail.
    if circuit.opensUntil.map({ begun >= $0 }) ?? (circuit.failures >= Self.threshold) {
      circuit.openings += 1
      let cooldown = Self.backoff.ceiling(after: circuit.openings)
      circuit.opensUntil = now + Self.backoff.jittered(cooldown, using: &random)
      circuit.probeUntil = nil
    }
    if let asked = error.retryAfter {
      let wait = min(.seconds(min(asked, 1 << 32)), Self.maximumRetryAfter)
      circuit.opensUntil = max(circuit.opensUntil ?? now, now + wait)
    }
    circuits[origin] = circuit
  }

  /// Forgets all circuits, for example on another network.
  mutating func reset() { circuits = [:] }
}

extension LoadError {
  /// Records which server failed.
  mutating func attribute(to origin: String, _ circuit: FailedServer.Circuit) {
    let fault: FailedServer.Fault = !isOfWholeOrigin ? .image : status == nil ? .silence : .response
    servers = [FailedServer(origin: origin, circuit: circuit, fault: fault)]
  }
}
