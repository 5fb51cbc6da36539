import FeedimgModel
import Synchronization

extension FactWatch {
  /// A decision follows this network, which may be over before it is told; see ``GlimpseVigil``.
  func saw(_ seen: NetworkState) {
    let isNews = state.withLock { !$0.tasks.isEmpty && $0.network.map { $0 != seen } ?? false }
    guard isNews else { return }
    glimpses.note(
      seen,
      isOver: { [weak self] in self.map { $0.network.currentState() == $0.told } ?? true },
      end: { [weak self] in self?.tell(after: $0) }
    )
  }

  /// The network that was told last.
  private var told: NetworkState? { state.withLock { $0.network } }

  /// The network was another one for a moment, and is again as it was told.
  private func tell(after glimpsed: NetworkState) {
    guard let told else { return }
    failures.reset()
    // Where nothing can have gone over another path, the connections are still good.
    let move = glimpsed.isReachable && !told.isSamePath(as: glimpsed) ? onNetwork(told) : nil
    tell()
    if told.isReachable { move?() }
  }
}
