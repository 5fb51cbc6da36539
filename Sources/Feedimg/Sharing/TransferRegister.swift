package import FeedimgModel
import Synchronization

/// The transfers of images that are under way or wait for their place, for who shows them.
package final class TransferRegister: Sendable {
  /// One transfer, as it is now.
  package struct Transfer: Sendable, Hashable {
    /// What it brings.
    package var variant: ImageVariant
    /// That of the most urgent of those who wait for it.
    package var priority: LoadPriority
    /// Nil before anything has come.
    package var progress: LoadProgress?
  }

  private struct State {
    /// In the order in which they began.
    var runs: [(run: LoadRun, variant: ImageVariant)] = []
    var onChange: (@Sendable () -> Void)?
  }

  /// Guards what is transferred; who listens is called outside.
  private let state = Mutex(State())

  /// All transfers, those first that began first.
  package var present: [Transfer] {
    state.withLock { $0.runs }.map {
      Transfer(variant: $0.variant, priority: $0.run.priority, progress: $0.run.latest)
    }
  }

  /// Tells one listener, in place of any earlier one, whenever a transfer begins, goes on or ends.
  ///
  /// - Parameter onChange: Called on the threads of the transfers, often; must return at once.
  package func listen(_ onChange: (@Sendable () -> Void)?) { state.withLock { $0.onChange = onChange } }

  func begin(_ run: LoadRun, of variant: ImageVariant) {
    state.withLock { $0.runs.append((run, variant)) }
    tell()
  }

  func end(_ run: LoadRun) {
    state.withLock { state in state.runs.removeAll { $0.run === run } }
    tell()
  }

  /// Tells that one has gone on.
  func tell() { state.withLock { $0.onChange }?() }
}

extension ImageLoader {
  /// What this loader transfers now, and those that share its parts.
  package var transferRegister: TransferRegister { transfers }
}
