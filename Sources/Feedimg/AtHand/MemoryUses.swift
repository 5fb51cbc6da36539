import FeedimgModel
import FeedimgSystem
import Synchronization

/// The uses of images that memory had, told to the disk from time to time, since each telling looks into its index.
///
/// The first use after a while is told at once, those that follow with the next that is told.
final class MemoryUses: Sendable {
  private struct Use: Hashable {
    var key: String
    /// The request fields that select the variant.
    var request: HTTPFields
  }

  private struct State {
    var counts: [Use: Int] = [:]
    var toldAt = ContinuousClock.now - MemoryUses.pause
  }

  private static let pause = Duration.seconds(1)

  private let store: any ImageStoring
  private let request: HTTPFields
  private let disk: ThreadExecutor
  /// Guards what is untold.
  private let state = Mutex(State())

  /// - Parameters:
  ///   - store: What is told.
  ///   - request: What is sent, by which the store chooses among several answers of a URL.
  ///   - disk: Where it is told.
  init(of store: any ImageStoring, for request: HTTPFields, on disk: ThreadExecutor) {
    (self.store, self.request, self.disk) = (store, request, disk)
  }

  /// Notes one use; `request` is nil for the program's own.
  func note(_ key: String, for request: HTTPFields? = nil) {
    let now = ContinuousClock.now
    let use = Use(key: key, request: request ?? self.request)
    let due = state.withLock { state -> [Use: Int] in
      state.counts[use, default: 0] += 1
      guard now - state.toldAt >= Self.pause else { return [:] }
      state.toldAt = now
      defer { state.counts = [:] }
      return state.counts
    }
    guard !due.isEmpty else { return }
    disk.enqueue { [store] in
      for (use, times) in due { store.noteUse(of: use.key, for: use.request, times: times) }
    }
  }
}
