/// What all transfers together bring, cut into samples of the link.
///
/// A sample counts only the time in which bytes of some answer were coming, so that waiting for servers does not look
/// like a slow link; that waiting is told apart, as the share of the time in which transfers ran but nothing came.
struct TrafficWindow: Sendable {
  struct Sample: Sendable, Hashable {
    var bytes: Int
    var seconds: Double
    /// Of the time in which transfers ran, the share in which nothing came.
    var idleShare: Double
  }

  /// A sample ends with so many bytes.
  static let enoughBytes = 64 << 10
  /// Or after so long, if a few bytes came.
  static let enoughTime = Duration.milliseconds(250)
  private static let leastBytes = 4 << 10

  /// Transfers that run, and those of them whose answer has begun.
  private var running = 0
  private var receiving = 0
  private var bytes = 0
  private var receivingTime = Duration.zero
  private var idleTime = Duration.zero
  private var seen: Duration?

  /// A request goes out.
  mutating func begin(at now: Duration) {
    count(until: now)
    running += 1
  }

  /// The first bytes of its answer came.
  mutating func answered(at now: Duration) {
    count(until: now)
    receiving += 1
  }

  /// Bytes of a body came.
  ///
  /// - Returns: A sample, when it is complete.
  mutating func receive(_ count: Int, at now: Duration) -> Sample? {
    self.count(until: now)
    bytes += count
    let isLongEnough = receivingTime >= Self.enoughTime && bytes >= Self.leastBytes
    guard bytes >= Self.enoughBytes || isLongEnough else { return nil }
    let (busy, idle) = (receivingTime / .seconds(1), idleTime / .seconds(1))
    let sample = Sample(bytes: bytes, seconds: busy, idleShare: busy + idle > 0 ? idle / (busy + idle) : 0)
    (bytes, receivingTime, idleTime) = (0, .zero, .zero)
    return sample
  }

  /// A transfer has ended, after or without ``answered(at:)``.
  mutating func end(wasAnswered: Bool, at now: Duration) {
    count(until: now)
    running = max(0, running - 1)
    if wasAnswered { receiving = max(0, receiving - 1) }
  }

  private mutating func count(until now: Duration) {
    defer { seen = now }
    guard let seen, now > seen else { return }
    if receiving > 0 { receivingTime += now - seen } else if running > 0 { idleTime += now - seen }
  }
}
