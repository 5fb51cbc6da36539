import FeedimgModel
import FeedimgSystem
import Synchronization

/// Tracks whether the network carries data, for any thread; see ``NetworkLiveness``.
final class LivenessMonitor: Sendable {
  private let time: MonotonicTime
  private let state = Mutex(NetworkLiveness())
  /// Called when the network is found dead, and when it carries data again.
  private let onTurn: Mutex<(@Sendable () -> Void)?> = Mutex(nil)

  init(_ time: MonotonicTime) { self.time = time }

  func listen(_ onTurn: (@Sendable () -> Void)?) { self.onTurn.withLock { $0 = onTurn } }

  /// Whether to decide as if offline, although the network reports a connection.
  var isOffline: Bool { state.withLock { $0.isOffline(at: time.now()) } }

  /// The wait before one load may probe a dead network; nil if the network is not dead.
  var nextProbe: Duration? { state.withLock { $0.probe(at: time.now()) } }

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

  /// Records the start of a load.
  ///
  /// - Returns: The number of the probe if the load probes a dead network.
  func began() -> Int? { state.withLock { $0.isDead ? $0.began(at: time.now()) : nil } }

  /// Records that a host responded, with a head or with bytes.
  func responded(isImage: Bool) {
    let now = time.now()
    if state.withLock({ $0.responded(isImage: isImage, at: now) }) { turned() }
  }

  /// Records that a probe was cancelled without a result; does nothing if the number is nil.
  func probeCancelled(_ probe: Int?) {
    guard let probe else { return }
    state.withLock { $0.probeAbandoned(probe, at: time.now()) }
  }

  func reset() { state.withLock { $0.reset() } }

  /// Records what a failure indicates about the network.
  @PipelineActor func failed(_ error: LoadError, of attempt: Attempt) {
    let now = time.now()
    let isTurn = state.withLock { liveness in
      defer { liveness.probeAbandoned(attempt.networkProbe, at: now) }
      let (url, asked, hasProgressed) = (attempt.url, attempt.asked, attempt.hasProgressed)
      // A captive portal serves its page from one host for the URLs of all hosts.
      if error.suspectsCaptivePortal {
        return !url.isLoopback && liveness.recordPortalPage(url.host, probe: attempt.networkProbe, at: now)
      }
      // Failures on this machine indicate nothing about the network.
      let hasResponded =
        asked.origin != url.origin && !url.isLoopback
        || !asked.isLoopback && (hasProgressed || error.status != nil || error.code == .notAnImage)
      var isTurn = hasResponded && liveness.responded(isImage: hasProgressed, at: now)
      if NetworkLiveness.counts(error, after: now - attempt.begun), !hasProgressed, !asked.isLoopback,
        liveness.failed(asked.host, begun: attempt.begun, probe: attempt.networkProbe, at: now)
      {
        isTurn = true
      }
      return isTurn
    }
    if isTurn { turned() }
  }

  private func turned() { onTurn.withLock { $0 }?() }
}
