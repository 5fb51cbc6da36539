import FeedimgModel
import FeedimgPipeline
import FeedimgPolicy
import FeedimgSystem
import Synchronization

extension SlotTask {
  /// How long a transfer continues after its slot leaves, so that another view can join it.
  ///
  /// A detail view, for example, takes over the image of a row. The time is three frames: the detail view is
  /// bound in the same turn of the event loop that clears the row.
  static let grace: Duration = .milliseconds(50)

  /// Continues if the same pictures are bound again; the load keeps running.
  ///
  /// Another size is decoded after the current one; if several follow, only the latest is.
  ///
  /// - Returns: False if a new task must start: the pictures differ, or the load failed or ended as a
  ///   placeholder.
  func bindAgain(
    _ item: FeedItem,
    _ pixels: DecodeRequest?,
    _ facts: [String: String],
    _ priority: LoadPriority
  ) -> Bool {
    let pixels = loader.resources.pixels == nil ? nil : pixels
    let binding = state.withLock { $0.isOver ? nil : $0.binding }
    guard let binding, let shown = screen.latest,
      shown.goesOn(with: Presentation(item: item, pixels, facts: facts))
    else { return false }
    guard (shown.item, shown.request) != (item, pixels) else {
      guard screen.isCurrent(binding) else { return false }
      bindAgain(priority)
      return true
    }
    let first = loader.firstPresentation(of: item, pixels, facts)
    guard screen.change({ $0.bindAgain(binding, first) }) else { return false }
    shown.request == pixels ? bindAgain(priority) : resize(priority)
    return true
  }

  private func bindAgain(_ priority: LoadPriority) {
    // A running task may be about to end, so the presentation decides. A task can also end because no thread
    // was available.
    let isRunning = state.withLock { $0.isRunning }
    guard !isRunning || screen.latest?.isLoading == false else { return setPriority(priority) }
    state.withLock { $0.isJustBound = true }
    handle.priority = priority
    reconsider()
  }

  private func resize(_ priority: LoadPriority) {
    let isRunning = state.withLock { state in
      // A running task reads the size just before decoding, and continues if it used another one.
      if state.isRunning { state.isResized = true } else { state.isJustBound = true }
      return state.isRunning
    }
    guard !isRunning else { return setPriority(priority) }
    handle.priority = priority
    reconsider()
  }

  /// Ends the task because another item is bound.
  ///
  /// If a transfer runs, the task ends after a moment, so that another slot can join the transfer.
  func leave() {
    guard state.withLock({ $0.isReceiving && !$0.isOver }) else { return cancel() }
    calls.close()
    Task { [self] in
      try? await loader.resources.time.sleep(Self.grace)
      cancel()
    }
  }

  /// Returns whether the chosen image is already being transferred, so that a pause would save no data.
  func isUnderWay(_ resolution: Resolution, of item: FeedItem) -> Bool {
    guard let variant = resolution.decision.image.role.flatMap({ item[$0] }) else { return false }
    return loader.resources.loads.transfers.present.contains {
      $0.role != nil && $0.url.key == variant.url.key
    }
  }
}
