import FeedimgModel
import FeedimgPipeline
import FeedimgPolicy
import FeedimgSystem
import Synchronization

extension SlotTask {
  /// How long a transfer goes on for who may show its image elsewhere, as a detail view does that takes over from a row.
  ///
  /// Three frames: the view that takes over is bound in the same turn as the other is cleared.
  static let grace: Duration = .milliseconds(50)

  /// Goes on where the same pictures are bound again: what comes is not disturbed, and what is shown may be out of date.
  ///
  /// Another size is decoded when the one before has been: of many that follow each other, the latest.
  ///
  /// - Returns: False where it is something else, or where that has failed or ended as a placeholder, to be begun anew.
  func bindAgain(
    _ item: FeedItem,
    _ pixels: DecodeRequest?,
    _ facts: [String: String],
    _ priority: LoadPriority
  ) -> Bool {
    let pixels = loader.pixels == nil ? nil : pixels
    let binding = state.withLock { $0.isOver ? nil : $0.binding }
    guard let binding, let shown = screen.latest,
      shown.goesOn(with: Presentation(item: item, pixels, facts: facts))
    else { return false }
    guard (shown.item, shown.request) != (item, pixels) else {
      guard screen.isCurrent(binding) else { return false }
      bindAgain(priority)
      return true
    }
    guard screen.bindAgain(binding, loader.firstPresentation(of: item, pixels, facts)) else { return false }
    shown.request == pixels ? bindAgain(priority) : resize(priority)
    return true
  }

  private func bindAgain(_ priority: LoadPriority) {
    // What is seen counts where something runs, as that may be about to end; it may also have ended for want of a thread.
    let isRunning = state.withLock { $0.isRunning }
    guard !isRunning || screen.latest?.isLoading == false else { return setPriority(priority) }
    state.withLock { $0.isJustBound = true }
    handle.priority = priority
    reconsider()
  }

  private func resize(_ priority: LoadPriority) {
    let isRunning = state.withLock { state in
      // What runs reads the size when it is about to decode, and goes on if that was another one.
      if state.isRunning { state.isResized = true } else { state.isJustBound = true }
      return state.isRunning
    }
    guard !isRunning else { return setPriority(priority) }
    handle.priority = priority
    reconsider()
  }

  /// Ends when something else is bound: at once, or soon where bytes would be lost that somebody may want.
  func leave() {
    guard state.withLock({ $0.isReceiving && !$0.isOver }) else { return cancel() }
    calls.close()
    Task { [self] in
      try? await loader.time.sleep(Self.grace)
      cancel()
    }
  }

  /// Whether what is decided comes already, so that the network is not spared by waiting.
  func isUnderWay(_ resolution: Resolution, of item: FeedItem) -> Bool {
    guard let variant = resolution.decision.image.role.flatMap({ item[$0] }) else { return false }
    return loader.transferRegister.present.contains { $0.role != nil && $0.url.key == variant.url.key }
  }
}
