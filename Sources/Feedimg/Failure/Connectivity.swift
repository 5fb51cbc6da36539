import FeedimgModel

/// Whether the network carries anything, where it says that it is connected ("lie-fi").
///
/// Where transfers fail one after another without any answer, the way out is taken to be dead: loads then fall back as
/// they do offline. After a wait one load may try; its success, or another network, brings everything back. Pure: times
/// are on any clock that does not jump.
struct Connectivity: Sendable {
  /// Failures in a row, without a single answer between them.
  static let greatestFailures = 4
  /// One host that is down says nothing about the network.
  static let leastHosts = 2
  static let firstWait = Duration.seconds(5)
  static let greatestWait = Duration.seconds(60)

  private var failures = 0
  private var hosts: Set<String> = []
  private var wait = Duration.zero
  /// While the way out is dead: when somebody may try again.
  private var nextTrial: Duration?

  /// Whether nothing gets through.
  var isDead: Bool { nextTrial != nil }

  /// Whether to count as offline now: until it is time to try.
  func isOffline(at now: Duration) -> Bool { nextTrial.map { now < $0 } ?? false }

  /// A transfer begins; where it is a trial, everybody else waits for it.
  mutating func began(at now: Duration) {
    if let nextTrial, now >= nextTrial { self.nextTrial = now + max(wait, Self.firstWait) }
  }

  /// In how long to look again, never at once; nil where all is well.
  func trial(at now: Duration) -> Duration? {
    nextTrial.map { $0 > now ? $0 - now : max(wait, Self.firstWait) }
  }

  /// Some host answered.
  ///
  /// - Returns: Whether the way out was dead.
  mutating func answered() -> Bool {
    defer { self = Connectivity() }
    return isDead
  }

  /// A host did not answer.
  ///
  /// - Returns: Whether the way out is now taken to be dead, and was not before.
  mutating func failed(_ host: String, at now: Duration) -> Bool {
    failures += 1
    // That there are several is all that matters.
    if hosts.count < Self.leastHosts { hosts.insert(host) }
    guard failures >= Self.greatestFailures, hosts.count >= Self.leastHosts else { return false }
    let isNew = !isDead
    wait = min(Self.greatestWait, max(Self.firstWait, wait * 2))
    nextTrial = now + wait
    return isNew
  }

  /// Begins anew, as on another network.
  mutating func reset() { self = Connectivity() }

  /// Whether an error says that nothing came back from where it was wanted, the way that packets go now.
  static func counts(_ error: LoadError) -> Bool {
    guard !error.isOfOldPath else { return false }
    switch error.code {
    case .connection, .timeout, .unknownHost: return true
    default: return error.suspectsCaptivePortal
    }
  }
}
