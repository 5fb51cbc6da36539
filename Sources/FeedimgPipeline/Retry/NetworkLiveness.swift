import FeedimgModel

/// Whether the network carries anything, where it says that it is connected ("lie-fi").
///
/// The network counts as dead when several transfers fail in a row and no host responds, or when pages come in place of
/// images. Loads then fall back as they do offline. After a wait one load probes the network. A response, or another
/// network, ends this state. A refused connection is no evidence: healthy hosts refuse connections, and so do routers
/// before a login. Pure: times come from any clock that does not jump.
package struct NetworkLiveness: Sendable {
  /// What speaks against the network, without anything that contradicts it.
  private struct Tally: Sendable {
    var count = 0
    var hosts: Set<String> = []

    /// - Returns: Whether that is enough.
    mutating func add(_ host: String) -> Bool {
      count += 1
      // That there are several is all that matters.
      if hosts.count < NetworkLiveness.leastHosts { hosts.insert(host) }
      return count >= NetworkLiveness.greatestFailures && hosts.count >= NetworkLiveness.leastHosts
    }
  }

  /// Failures in a row, without a single answer between them.
  static let greatestFailures = 4
  /// One host that is down says nothing about the network.
  static let leastHosts = 2
  static let firstWait = Duration.seconds(5)
  static let greatestWait = Duration.seconds(60)
  /// What came so lately is still coming.
  static let quiet = Duration.seconds(2)
  /// So long after an image has come, pages come from the servers themselves.
  static let trust = Duration.seconds(60)
  /// A name, or a way to a host, that is not found any sooner was denied by somebody; nobody's silence is as short.
  ///
  /// Of a router that does not answer, Linux says after three seconds that there is no way.
  static let leastSilence = Duration.seconds(1)
  /// Nobody else tries for so long, while one load does.
  private static let probeTime = Duration.seconds(30)

  private var silences = Tally()
  private var pages = Tally()
  private var lastSign: Duration?
  private var lastImage: Duration?
  private var wait = Duration.zero
  /// While the way out is dead: when somebody may try again.
  private var nextProbe: Duration?
  /// The number of the probe that is under way.
  private var present: Int?
  private var issued = 0
  /// Whether it is taken to be dead for pages, which themselves show that something answers.
  private var isLogin = false

  /// Whether nothing gets through.
  var isDead: Bool { nextProbe != nil }

  /// Whether to count as offline now: until it is time to try.
  func isOffline(at now: Duration) -> Bool { nextProbe.map { now < $0 } ?? false }

  /// A load begins; where it is the one that tries, everybody else waits for it.
  ///
  /// - Returns: The number of the probe, to tell its end with.
  mutating func began(at now: Duration) -> Int? {
    guard let nextProbe, now >= nextProbe else { return nil }
    self.nextProbe = now + Self.probeTime
    issued += 1
    present = issued
    return issued
  }

  /// In how long to look again, never at once; nil where all is well.
  func probe(at now: Duration) -> Duration? {
    // One that is under way may end at any time.
    nextProbe.map { $0 > now && present == nil ? $0 - now : max(wait, Self.firstWait) }
  }

  /// Some host answers: a head came, or bytes.
  ///
  /// - Parameters:
  ///   - isImage: Whether it is an image, which nobody sends in place of a server.
  ///   - now: The time.
  /// - Returns: Whether the way out was dead until now.
  mutating func heard(isImage: Bool, at now: Duration) -> Bool {
    lastSign = now
    silences = Tally()
    if isImage { (lastImage, pages) = (now, Tally()) }
    guard isDead, isImage || !isLogin else { return false }
    (wait, nextProbe, present, isLogin) = (.zero, nil, nil, false)
    return true
  }

  /// A host did not answer.
  ///
  /// - Parameters:
  ///   - host: Its name.
  ///   - begun: When it was asked; what came from anybody since says that the network is well.
  ///   - probe: The number of the probe that this was, if it was one.
  ///   - now: The time.
  /// - Returns: Whether the way out is now taken to be dead, and was not before.
  mutating func failed(_ host: String, begun: Duration, probe: Int? = nil, at now: Duration) -> Bool {
    guard !isDead else {
      probeFailed(probe, at: now)
      return false
    }
    if let lastSign, lastSign >= begun || now < lastSign + Self.quiet { return false }
    return silences.add(host) && die(isLogin: false, at: now)
  }

  /// A page, or a certificate of somebody else, came in place of an image.
  ///
  /// - Returns: Whether the way out is now taken to be dead, and was not before.
  mutating func sawPage(_ host: String, probe: Int? = nil, at now: Duration) -> Bool {
    guard !isDead else {
      probeFailed(probe, at: now)
      return false
    }
    if let lastImage, now < lastImage + Self.trust { return false }
    return pages.add(host) && die(isLogin: true, at: now)
  }

  /// Nothing was learned by a probe: the next load may try.
  mutating func gaveUp(_ probe: Int?, at now: Duration) {
    guard let probe, probe == present else { return }
    (present, nextProbe) = (nil, now)
  }

  /// Begins anew, as on another network.
  mutating func reset() {
    // What an earlier probe tells late must not be taken for a later one's.
    let issued = issued
    self = NetworkLiveness()
    self.issued = issued
  }

  private mutating func die(isLogin: Bool, at now: Duration) -> Bool {
    (wait, nextProbe, self.isLogin) = (Self.firstWait, now + Self.firstWait, isLogin)
    return true
  }

  /// Those that were under way when it died fail as well, and make nobody wait longer.
  private mutating func probeFailed(_ probe: Int?, at now: Duration) {
    guard let probe, probe == present else { return }
    wait = min(Self.greatestWait, wait * 2)
    (present, nextProbe) = (nil, now + wait)
  }

  /// Whether an error says that nothing came back from where it was wanted, the way that packets go now.
  package static func counts(_ error: LoadError, after time: Duration? = nil) -> Bool {
    guard !error.isFromOldPath, !error.wasRefused else { return false }
    switch error.code {
    case .timeout: return true
    case .connection: return !error.wasUnreachable || time.map { $0 >= leastSilence } ?? true
    case .unknownHost: return time.map { $0 >= leastSilence } ?? true
    default: return false
    }
  }
}
