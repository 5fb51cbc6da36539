import FeedimgModel
import Synchronization

/// Whether anything gets through, where the network says that it is connected.
extension FailureDesk {
  /// Tells one listener when loads should be decided anew, as nothing gets through any more, or something does.
  func listen(_ onTurn: (@Sendable () -> Void)?) { self.onTurn.withLock { $0 = onTurn } }

  /// Whether to decide as if offline, although the network says that it is connected.
  var isOffline: Bool { state.withLock { $0.connectivity.isOffline(at: time.now()) } }

  /// A state of the network as decisions see it: offline where nothing gets through.
  func judged(_ state: NetworkState) -> NetworkState {
    guard state.kind != .offline, isOffline else { return state }
    return NetworkState(
      kind: .offline,
      metered: state.metered,
      isReachable: false,
      reason: "connected (\(state.kind.rawValue)), but nothing gets through",
      meteredReason: state.meteredReason
    )
  }

  /// In how long one load may try whether the network is still dead; nil where it is not.
  var trial: Duration? { state.withLock { $0.connectivity.trial(at: time.now()) } }

  /// A host of the network answers, be it with a head or with bytes, of an image or of something else.
  func heard(isImage: Bool) {
    let now = time.now()
    if state.withLock({ $0.connectivity.heard(isImage: isImage, at: now) }) { tellTurn() }
  }

  /// Who tries a dead network has stopped before it knew more; nothing happens without.
  func gaveUp(_ trial: Int?) {
    guard let trial else { return }
    let now = time.now()
    state.withLock { $0.connectivity.gaveUp(trial, at: now) }
  }

  func tellTurn() { onTurn.withLock { $0 }?() }
}
