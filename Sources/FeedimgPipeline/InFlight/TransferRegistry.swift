package import FeedimgModel
import Synchronization

/// The transfers that run or wait for a slot, for programs that display them.
package final class TransferRegistry: Sendable {
  /// The current state of one transfer.
  package struct Transfer: Sendable, Hashable {
    /// The URL of the transfer.
    package var url: ImageURL
    /// The variant that it loads; nil for a request by URL alone.
    package var role: ImageVariant.Role?
    /// The size that the item announces; nil if it announces none.
    package var announced: ByteCount?
    /// The highest priority of the callers.
    package var priority: LoadPriority
    /// The progress; nil before the head arrives.
    package var progress: LoadProgress?
  }

  private struct Entry: Sendable {
    let load: InFlightLoad
    let url: ImageURL
    let variant: ImageVariant?
  }

  private struct State {
    var entries: [Entry] = []
    var onChange: (@Sendable () -> Void)?
  }

  /// Guards the transfers; the listener is called outside the lock.
  private let state = Mutex(State())

  /// All transfers, in the order in which they began.
  package var present: [Transfer] {
    state.withLock { $0.entries }.map {
      Transfer(
        url: $0.url,
        role: $0.variant?.role,
        announced: $0.variant?.size,
        priority: $0.load.priority,
        progress: $0.load.progress
      )
    }
  }

  /// Sets the one listener, which is called when a transfer begins, progresses or ends.
  ///
  /// - Parameter onChange: Called often, on the threads of the transfers; must return at once.
  package func listen(_ onChange: (@Sendable () -> Void)?) { state.withLock { $0.onChange = onChange } }

  /// Adds a transfer; `variant` is nil for a request by URL alone.
  func begin(_ load: InFlightLoad, of url: ImageURL, _ variant: ImageVariant? = nil) {
    state.withLock { $0.entries.append(Entry(load: load, url: url, variant: variant)) }
    notify()
  }

  func end(_ load: InFlightLoad) {
    state.withLock { $0.entries.removeAll { $0.load === load } }
    notify()
  }

  /// Tells the listener that a transfer has progressed.
  func notify() { state.withLock { $0.onChange }?() }
}
