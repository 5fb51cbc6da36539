import FeedimgModel
import FeedimgSystem
import Synchronization

/// Detects a network that reports a connection but carries no data ("lie-fi"); any thread may use it.
///
/// The network counts as dead if requests to several hosts fail in a row and no host responds. Loads then fall
/// back as they do offline. After a pause, one load probes the network, and the next pause is twice as long. A
/// response or a change of the network ends this state. A refused connection is no evidence, because healthy
/// hosts also refuse connections.
final class NetworkLiveness: Sendable {
  private struct State {
    /// The failures in a row, without a response between them, and their hosts.
    var failures = 0
    var hosts: Set<String> = []
    var lastResponse: Duration?
    /// The time at which a load may probe; nil while the network is alive.
    var nextProbe: Duration?
    /// When the current probe began.
    var probeBegan: Duration?
    /// The number of failed probes.
    var probes = 0
  }

  /// The number of failures in a row that counts as a dead network.
  static let threshold = 4
  /// The number of hosts that must fail, because a single host may be down by itself.
  static let minimumHosts = 2
  static let backoff = Backoff(base: .seconds(5), maximum: .seconds(60))
  /// If a name lookup or a route fails faster, a resolver or a router has responded.
  static let minimumSilence = Duration.seconds(1)

  /// The time for which other loads wait for a probe.
  private static let probeTime = Duration.seconds(30)

  private let time: MonotonicTime
  private let state = Mutex(State())
  /// Called when the network is found dead, and when it carries data again.
  private let onTurn: Mutex<(@Sendable () -> Void)?> = Mutex(nil)

  init(_ time: MonotonicTime) { self.time = time }

  func listen(_ onTurn: (@Sendable () -> Void)?) { self.onTurn.withLock { $0 = onTurn } }

  var isDead: Bool { state.withLock { $0.nextProbe != nil } }

  /// Whether to decide as if offline, although the network reports a connection.
  var isOffline: Bool { state.withLock(\.nextProbe).map { time.now() < $0 } ?? false }

  /// The wait before one load may probe a dead network, never zero; nil if the network is not dead.
  var nextProbe: Duration? {
    let now = time.now()
    return state.withLock { state in
      // A running probe may end at any time.
      state.nextProbe.map { $0 > now && state.probeBegan == nil ? $0 - now : Self.backoff.base }
    }
  }

  /// The network state for decisions, which is offline while the network is dead.
  func judged(_ network: NetworkState) -> NetworkState {
    guard network.kind != .offline, isOffline else { return network }
    return NetworkState(
      kind: .offline,
      metered: network.metered,
      isReachable: false,
      reason: "connected (\(network.kind.rawValue)), but no response arrives",
      meteredReason: network.meteredReason
    )
  }

  /// Records the start of a load; if a probe is due, this load is the probe, and others wait for its result.
  func began() {
    let now = time.now()
    state.withLock { state in
      guard let nextProbe = state.nextProbe, now >= nextProbe else { return }
      (state.probeBegan, state.nextProbe) = (now, now + Self.probeTime)
    }
  }

  /// Records that a host responded, with a head or with bytes.
  func responded() {
    let now = time.now()
    let wasDead = state.withLock { state in
      defer { state = State(lastResponse: now) }
      return state.nextProbe != nil
    }
    if wasDead { turned() }
  }

  /// Records that a request to a host failed or was cancelled; a response from any host since it began
  /// outweighs it.
  func failed(_ error: LoadError, _ host: String, since begun: Duration) {
    let now = time.now()
    let isSilence =
      (error.isSilence || error.code == .unknownHost)
      && (error.code == .timeout || now - begun >= Self.minimumSilence)
    let isTurn = state.withLock { state in
      guard state.nextProbe == nil else {
        guard let probeBegan = state.probeBegan, begun >= probeBegan else { return false }
        // A probe without a result, such as a cancelled one, lets the next load probe.
        if isSilence { state.probes += 1 }
        state.probeBegan = nil
        state.nextProbe = isSilence ? now + Self.backoff.ceiling(after: state.probes + 1) : now
        return false
      }
      guard isSilence, state.lastResponse.map({ $0 < begun }) ?? true else { return false }
      state.failures += 1
      state.hosts.insert(host)
      guard state.failures >= Self.threshold, state.hosts.count >= Self.minimumHosts else { return false }
      state.nextProbe = now + Self.backoff.base
      return true
    }
    if isTurn { turned() }
  }

  /// Forgets all evidence, for example on another network.
  func reset() { state.withLock { $0 = State() } }

  private func turned() { onTurn.withLock { $0 }?() }
}
