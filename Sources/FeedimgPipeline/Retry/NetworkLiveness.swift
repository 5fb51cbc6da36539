import FeedimgModel

/// Detects a network that reports a connection but carries no data ("lie-fi").
///
/// The network counts as dead if several transfers fail in a row and no host responds. It also counts as dead
/// if hosts return pages in place of images. Loads then fall back as they do offline. After a wait, one load
/// probes the network. A response or a change of the network ends this state. A refused connection is no
/// evidence, because healthy hosts and routers before a login also refuse connections. This type is pure:
/// times come from a monotonic clock.
package struct NetworkLiveness: Sendable {
  /// Consecutive evidence that the network is dead.
  private struct Tally: Sendable {
    var count = 0
    var hosts: Set<String> = []

    /// Adds one failure.
    ///
    /// - Returns: Whether the evidence is sufficient.
    mutating func add(_ host: String) -> Bool {
      count += 1
      // It only matters whether there are several hosts.
      if hosts.count < NetworkLiveness.minimumHosts { hosts.insert(host) }
      return count >= NetworkLiveness.failureThreshold && hosts.count >= NetworkLiveness.minimumHosts
    }
  }

  /// The number of failures in a row, without a response between them, that counts as a dead network.
  static let failureThreshold = 4
  /// The number of hosts that must fail, because a single host may be down by itself.
  static let minimumHosts = 2
  static let firstWait = Duration.seconds(5)
  static let maximumWait = Duration.seconds(60)
  /// The time after a response during which failures do not count.
  static let quiet = Duration.seconds(2)
  /// The time after an image during which pages in place of images do not count.
  static let trust = Duration.seconds(60)
  /// The shortest time without a response that counts as evidence.
  ///
  /// If a name lookup or a route fails faster, a resolver or router has responded. Linux waits three seconds
  /// for a router before it reports a route as unreachable.
  static let minimumSilence = Duration.seconds(1)
  /// The time for which other loads wait while one load probes.
  private static let probeTime = Duration.seconds(30)

  private var silences = Tally()
  private var pages = Tally()
  private var lastSign: Duration?
  private var lastImage: Duration?
  private var wait = Duration.zero
  /// The time at which a load may probe; nil while the network is alive.
  private var nextProbe: Duration?
  /// The number of the current probe.
  private var present: Int?
  private var issued = 0
  /// Whether the network counts as dead because of pages, which are themselves responses.
  private var isLogin = false

  var isDead: Bool { nextProbe != nil }

  /// Whether to decide as if offline now, until a probe is due.
  func isOffline(at now: Duration) -> Bool { nextProbe.map { now < $0 } ?? false }

  /// Records the start of a load, which becomes the probe if one is due; other loads then wait for it.
  ///
  /// - Returns: The number of the probe, to report its end with.
  mutating func began(at now: Duration) -> Int? {
    guard let nextProbe, now >= nextProbe else { return nil }
    self.nextProbe = now + Self.probeTime
    issued += 1
    present = issued
    return issued
  }

  /// The wait before the next check, never zero; nil if the network is alive.
  func probe(at now: Duration) -> Duration? {
    // A running probe may end at any time.
    nextProbe.map { $0 > now && present == nil ? $0 - now : max(wait, Self.firstWait) }
  }

  /// Records that a host responded, with a head or with bytes.
  ///
  /// - Parameters:
  ///   - isImage: Whether it sent an image, which cannot come from a captive portal.
  ///   - now: The current time.
  /// - Returns: Whether the network was dead until now.
  mutating func responded(isImage: Bool, at now: Duration) -> Bool {
    lastSign = now
    silences = Tally()
    if isImage { (lastImage, pages) = (now, Tally()) }
    guard isDead, isImage || !isLogin else { return false }
    (wait, nextProbe, present, isLogin) = (.zero, nil, nil, false)
    return true
  }

  /// Records that a host did not respond.
  ///
  /// - Parameters:
  ///   - host: The name of the host.
  ///   - begun: When the request went out; a response from any host since then shows that the network is
  ///     alive.
  ///   - probe: The number of the probe, if the request was one.
  ///   - now: The current time.
  /// - Returns: Whether this failure makes the network count as dead.
  mutating func failed(_ host: String, begun: Duration, probe: Int? = nil, at now: Duration) -> Bool {
    guard !isDead else {
      probeFailed(probe, at: now)
      return false
    }
    if let lastSign, lastSign >= begun || now < lastSign + Self.quiet { return false }
    return silences.add(host) && die(isLogin: false, at: now)
  }

  /// Records a page or an untrusted certificate in place of an image.
  ///
  /// - Returns: Whether this page makes the network count as dead.
  mutating func recordPortalPage(_ host: String, probe: Int? = nil, at now: Duration) -> Bool {
    guard !isDead else {
      probeFailed(probe, at: now)
      return false
    }
    if let lastImage, now < lastImage + Self.trust { return false }
    return pages.add(host) && die(isLogin: true, at: now)
  }

  /// Ends a probe without a result, so that the next load may probe.
  mutating func probeAbandoned(_ probe: Int?, at now: Duration) {
    guard let probe, probe == present else { return }
    (present, nextProbe) = (nil, now)
  }

  /// Forgets all evidence, for example on another network.
  mutating func reset() {
    // Numbers continue, so that a late report of an earlier probe is not taken for a later one.
    let issued = issued
    self = NetworkLiveness()
    self.issued = issued
  }

  private mutating func die(isLogin: Bool, at now: Duration) -> Bool {
    (wait, nextProbe, self.isLogin) = (Self.firstWait, now + Self.firstWait, isLogin)
    return true
  }

  /// Extends the wait after a failed probe; other requests that fail meanwhile do not extend it.
  private mutating func probeFailed(_ probe: Int?, at now: Duration) {
    guard let probe, probe == present else { return }
    wait = min(Self.maximumWait, wait * 2)
    (present, nextProbe) = (nil, now + wait)
  }

  /// Whether an error shows that no response came back over the current network path.
  package static func counts(_ error: LoadError, after time: Duration? = nil) -> Bool {
    guard error.retry.reason != .pathChanged, error.retry.reason != .refused else { return false }
    switch error.code {
    case .timeout: return true
    case .connection: return error.retry.reason != .unreachable || time.map { $0 >= minimumSilence } ?? true
    case .unknownHost: return time.map { $0 >= minimumSilence } ?? true
    default: return false
    }
  }
}
