package import FeedimgModel
import Synchronization

/// The transfers that run or wait for a slot, for programs that show them.
package final class TransferRegister: Sendable {
  /// One transfer, as it is now.
  package struct Transfer: Sendable, Hashable {
    /// What it brings.
    package var url: ImageURL
    /// What that is of an item; nil for what was asked for by its URL alone.
    package var role: ImageVariant.Role?
    /// As the item tells it; nil where nobody does.
    package var announced: ByteCount?
    /// That of the most urgent of those who wait for it.
    package var priority: LoadPriority
    /// Nil before anything has come.
    package var progress: LoadProgress?
  }

  private struct Entry: Sendable {
    let load: InFlightLoad
    let url: ImageURL
    let variant: ImageVariant?
  }

  private struct State {
    /// In the order in which they began.
    var entries: [Entry] = []
    var onChange: (@Sendable () -> Void)?
  }

  /// Guards what is transferred; who listens is called outside.
  private let state = Mutex(State())

  /// All transfers, those first that began first.
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

  /// Tells one listener, in place of any earlier one, whenever a transfer begins, goes on or ends.
  ///
  /// - Parameter onChange: Called on the threads of the transfers, often; must return at once.
  package func listen(_ onChange: (@Sendable () -> Void)?) { state.withLock { $0.onChange = onChange } }

  func begin(_ load: InFlightLoad, of variant: ImageVariant) {
    begin(Entry(load: load, url: variant.url, variant: variant))
  }

  func begin(_ load: InFlightLoad, of url: ImageURL) { begin(Entry(load: load, url: url, variant: nil)) }

  private func begin(_ entry: Entry) {
    state.withLock { $0.entries.append(entry) }
    tell()
  }

  func end(_ load: InFlightLoad) {
    state.withLock { $0.entries.removeAll { $0.load === load } }
    tell()
  }

  /// Tells that one has gone on.
  func tell() { state.withLock { $0.onChange }?() }
}

extension ImageLoader {
  /// What this loader transfers now, and those that share its parts.
  package var transferRegister: TransferRegister { transfers }
}
