/// What all transfers together bring, cut into samples of the link, and of the hosts that send.
///
/// A sample counts only the time in which bytes of some answer were coming, so that waiting for servers does not look
/// like a slow link; that waiting is told apart, as the share of the time in which transfers ran but nothing came. The
/// time in which nobody sends but slow hosts says nothing of the link, and is left out of both.
struct TrafficWindow: Sendable {
  struct Sample: Sendable, Hashable {
    var bytes: Int
    var seconds: Double
    /// Of the time in which transfers ran, the share in which nothing came.
    var idleShare: Double
  }

  /// What some hosts brought while they were the ones that sent.
  struct Pace: Sendable, Hashable {
    var hosts: Set<String>
    var bytes: Int
    var seconds: Double
  }

  /// Who sends.
  private enum Source: Sendable, Hashable {
    case these(Set<String>)
    /// Others as well as those who are compared.
    case more
  }

  private struct Tally: Sendable {
    var bytes = 0
    var time = Duration.zero

    var isComplete: Bool {
      bytes >= enoughBytes || time >= enoughTime && bytes >= leastBytes
    }
  }

  /// A sample ends with so many bytes.
  static let enoughBytes = 64 << 10
  /// Or after so long, if a few bytes came.
  static let enoughTime = Duration.milliseconds(250)
  private static let leastBytes = 4 << 10
  /// How fast hosts are can be told after so long, however little comes.
  private static let patience = Duration.seconds(1)

  /// Those whose pace is compared with what comes while others send as well.
  var compared: Set<String> = []
  /// Those that are known not to fill the link.
  var slowHosts: Set<String> = []
  /// Transfers that run.
  private var running = 0
  /// Those of them whose answer has begun, by host.
  private var receiving: [String: Int] = [:]
  /// The hosts of these.
  private var hosts: Set<String> = []
  private var link = Tally()
  private var idleTime = Duration.zero
  private var bySource: [Source: Tally] = [:]
  private var seen: Duration?

  /// A request goes out.
  mutating func begin(at now: Duration) {
    count(until: now)
    running += 1
  }

  /// The first bytes of its answer came.
  mutating func answered(by host: String, at now: Duration) {
    count(until: now)
    receiving[host, default: 0] += 1
    hosts.insert(host)
  }

  /// Bytes of a body came.
  ///
  /// - Returns: A sample of the link, when it is complete.
  mutating func receive(_ count: Int, at now: Duration) -> Sample? {
    self.count(until: now)
    ofSource { $0.bytes += count }
    guard !isOfSlowHosts else { return nil }
    link.bytes += count
    guard link.isComplete else { return nil }
    let (busy, idle) = (link.time / .seconds(1), idleTime / .seconds(1))
    let share = busy + idle > 0 ? idle / (busy + idle) : 0
    defer { (link, idleTime) = (Tally(), .zero) }
    return Sample(bytes: link.bytes, seconds: busy, idleShare: share)
  }

  /// What those who send now have brought since the last time, once that is enough to tell how fast they are.
  mutating func takePace() -> Pace? {
    guard let source, let tally = bySource[source], tally.bytes > 0,
      tally.isComplete || tally.time >= Self.patience
    else { return nil }
    bySource[source] = Tally()
    return Pace(hosts: hosts, bytes: tally.bytes, seconds: tally.time / .seconds(1))
  }

  /// A transfer has ended, after or without ``answered(by:at:)``.
  mutating func end(_ host: String, wasAnswered: Bool, at now: Duration) {
    count(until: now)
    running = max(0, running - 1)
    guard wasAnswered, let count = receiving[host] else { return }
    receiving[host] = count > 1 ? count - 1 : nil
    if count == 1 { hosts.remove(host) }
  }

  /// Forgets what has come and how long that took, as it was of another network; what runs still does.
  mutating func reset(at now: Duration) {
    count(until: now)
    (link, idleTime, bySource) = (Tally(), .zero, [:])
    (compared, slowHosts) = ([], [])
  }

  private var source: Source? {
    guard !hosts.isEmpty else { return nil }
    return !compared.isEmpty && compared.isStrictSubset(of: hosts) ? .more : .these(hosts)
  }

  private var isOfSlowHosts: Bool { !hosts.isEmpty && hosts.isSubset(of: slowHosts) }

  private mutating func ofSource(_ change: (inout Tally) -> Void) {
    guard let source else { return }
    // What still others brought before is too little, and too long ago, to tell anything.
    if bySource[source] == nil {
      bySource = bySource.filter { $0.key == .more || $0.key == .these(compared) }
    }
    change(&bySource[source, default: Tally()])
  }

  private mutating func count(until now: Duration) {
    defer { seen = now }
    guard let seen, now > seen else { return }
    ofSource { $0.time += now - seen }
    if hosts.isEmpty {
      if running > 0 { idleTime += now - seen }
    } else if !isOfSlowHosts {
      link.time += now - seen
    }
  }
}
