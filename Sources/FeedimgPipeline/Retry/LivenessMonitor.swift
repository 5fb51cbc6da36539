import FeedimgModel
import FeedimgSystem
import Synchronization

/// Whether the network carries anything, for any thread; see ``NetworkLiveness``.
final class LivenessMonitor: Sendable {
  private let time: MonotonicTime
  /// Guards what is known.
  private let state = Mutex(NetworkLiveness())
  /// Called when the network turns out to be dead, and when it turns out not to be.
  private let onTurn: Mutex<(@Sendable () -> Void)?> = Mutex(nil)

  init(_ time: MonotonicTime) { self.time = time }

  func listen(_ onTurn: (@Sendable () -> Void)?) { self.onTurn.withLock { $0 = onTurn } }

  /// Whether to decide as if offline, although the network says that it is connected.
  var isOffline: Bool { state.withLock { $0.isOffline(at: time.now()) } }

  /// In how long one load may try a dead network; nil where it is not dead.
  var nextProbe: Duration? { state.withLock { $0.probe(at: time.now()) } }

  /// The state of the network that decisions see: offline where nothing gets through.
  func judged(_ network: NetworkState) -> NetworkState {
    guard network.kind != .offline, isOffline else { return network }
    return NetworkState(
      kind: .offline,
      metered: network.metered,
      isReachable: false,
      reason: "connected (\(network.kind.rawValue)), but nothing gets through",
      meteredReason: network.meteredReason
    )
  }

  /// A load begins.
  ///
  /// - Returns: The number of its probe, where it probes a dead network.
  func began() -> Int? { state.withLock { $0.isDead ? $0.began(at: time.now()) : nil } }

  /// A host responds, with a head or with bytes.
  func heard(isImage: Bool) {
    let now = time.now()
    if state.withLock({ $0.heard(isImage: isImage, at: now) }) { turned() }
  }

  /// A probe was cancelled before anything was known; nothing happens without a number.
  func probeCancelled(_ probe: Int?) {
    guard let probe else { return }
    state.withLock { $0.gaveUp(probe, at: time.now()) }
  }

  func reset() { state.withLock { $0.reset() } }

  /// Remembers what a failure says of the network.
  @PipelineActor func judge(_ error: LoadError, of attempt: Attempt) {
    let now = time.now()
    let isTurn = state.withLock { liveness in
      defer { liveness.gaveUp(attempt.networkProbe, at: now) }
      let (url, asked, hasProgressed) = (attempt.url, attempt.asked, attempt.hasProgressed)
      // The page of a captive portal comes from one host, in place of what any host has.
      if error.suspectsCaptivePortal {
        return !url.isLoopback && liveness.sawPage(url.host, probe: attempt.networkProbe, at: now)
      }
      // This machine says nothing about the network.
      let hasResponded =
        asked.origin != url.origin && !url.isLoopback
        || !asked.isLoopback && (hasProgressed || error.status != nil || error.code == .notAnImage)
      var isTurn = hasResponded && liveness.heard(isImage: hasProgressed, at: now)
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
