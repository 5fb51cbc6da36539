import Synchronization

/// One who watches files and folders, for as long as it lives; all share one instance of the kernel's.
package final class FileInterest: Sendable {
  private final class Mark: Sendable {
    let hasEvents = Atomic(false)
  }

  private let events: FileEvents
  private let number: Int
  private let mark = Mark()
  private let onEvent: (@Sendable () -> Void)?

  /// Nil where the system grants no watch, or no thread to wait with.
  ///
  /// - Parameter onEvent: Called when something has happened, on any thread; must neither wait nor call back. Nil for
  ///   who looks by itself, which needs no thread.
  package init?(onEvent: (@Sendable () -> Void)? = nil) {
    guard let events = FileEvents.ofProcess(), onEvent == nil || events.startThread() else { return nil }
    self.events = events
    self.onEvent = onEvent
    number = events.issue()
  }

  deinit { events.leave(number) }

  /// Watches a file or a folder for these events as well; twice is once, and what has gone is watched no more.
  ///
  /// - Returns: Whether the kernel grants it; `errno` says why not.
  package func watch(_ path: String, _ mask: UInt32) -> Bool {
    events.watch(path, mask, for: number) { [mark, onEvent] in
      mark.hasEvents.store(true, ordering: .releasing)
      onEvent?()
    }
  }

  /// Whether something has happened since the last call, up to now; without waiting.
  package func hasChanged() -> Bool {
    events.takeIn()
    return mark.hasEvents.exchange(false, ordering: .acquiringAndReleasing)
  }
}
