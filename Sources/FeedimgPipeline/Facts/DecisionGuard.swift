import FeedimgModel

/// Releases a load when the decision that it follows no longer holds.
///
/// A load of an original ends so when the network becomes dearer; other callers that still want it keep it running.
@PipelineActor final class DecisionGuard {
  private let facts: FactMonitor
  private let handle: LoadHandle
  private let holds: @PipelineActor @Sendable () -> Bool
  private let release: @PipelineActor @Sendable () -> Void
  private var listener: Int?
  private var handleListener: Int?

  /// - Parameters:
  ///   - facts: Reports changes.
  ///   - handle: Its priority is that of the load, and its wish for the original may change the decision.
  ///   - generation: Of the facts before the decision; nil where changes since were not reported.
  ///   - holds: Whether the same is still decided.
  ///   - release: Called once it is not.
  init(
    _ facts: FactMonitor,
    _ handle: LoadHandle,
    since generation: Int?,
    holds: @escaping @PipelineActor @Sendable () -> Bool,
    release: @escaping @PipelineActor @Sendable () -> Void
  ) {
    (self.facts, self.handle, self.holds, self.release) = (facts, handle, holds, release)
    listener = facts.listen(priority: { handle.priority }, { [weak self] in self?.reconsider() })
    handleListener = handle.listen { [weak self, weak handle] in
      guard handle?.asksForOriginal == true else { return }
      Task { @PipelineActor in self?.reconsider() }
    }
    // What changed since the decision was not reported to this load.
    if handle.asksForOriginal || generation == nil || facts.generation != generation {
      Task { @PipelineActor [weak self] in self?.reconsider() }
    }
  }

  /// Stops watching.
  func end() {
    listener.take().map(facts.leave)
    handleListener.take().map(handle.forget)
  }

  private func reconsider() {
    guard listener != nil, !holds() else { return }
    end()
    release()
  }
}
