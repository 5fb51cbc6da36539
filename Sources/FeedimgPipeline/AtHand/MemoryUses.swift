import FeedimgModel
import FeedimgSystem
import Synchronization

/// The uses of images that memory had, told to the disk from time to time, since each telling looks into its index.
///
/// The first use after a while is told at once, those that follow with the next that is told.
final class MemoryUses: Sendable {
  private struct State {
    var counts: [String: Int] = [:]
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

  /// Notes one use.
  func note(_ key: String) {
    let now = ContinuousClock.now
    let due = state.withLock { state -> [String: Int] in
      state.counts[key, default: 0] += 1
      guard now - state.toldAt >= Self.pause else { return [:] }
      state.toldAt = now
      defer { state.counts = [:] }
      return state.counts
    }
    guard !due.isEmpty else { return }
    disk.enqueue { [store, request] in
      for (key, times) in due { store.noteUse(of: key, for: request, times: times) }
    }
  }
}
