import FeedimgModel
import FeedimgSystem
import Synchronization

/// Reports the uses of images in memory to the disk cache, in batches because each report reads its index.
///
/// The first use after a pause is reported at once. Later uses are reported with the next one that is due.
final class MemoryUseRecorder: Sendable {
  private struct Use: Hashable {
    var key: String
    /// The request fields that select the variant.
    var request: HTTPFields
  }

  private struct State {
    var counts: [Use: Int] = [:]
    var reportedAt = ContinuousClock.now - MemoryUseRecorder.pause
  }

  private static let pause = Duration.seconds(1)

  private let store: any ImageStoring
  private let request: HTTPFields
  private let writes: ThreadExecutor
  /// Guards the uses that have not been reported.
  private let state = Mutex(State())

  /// Makes a recorder; `request` has the fields by which the store chooses among responses of a URL.
  init(of store: any ImageStoring, for request: HTTPFields, on writes: ThreadExecutor) {
    (self.store, self.request, self.writes) = (store, request, writes)
  }

  /// Records one use of an image or response; `request` is nil for the request fields of the program.
  func note(_ key: String, for request: HTTPFields? = nil) {
    let now = ContinuousClock.now
    let use = Use(key: key, request: request ?? self.request)
    let due = state.withLock { state -> [Use: Int] in
      state.counts[use, default: 0] += 1
      guard now - state.reportedAt >= Self.pause else { return [:] }
      state.reportedAt = now
      defer { state.counts = [:] }
      return state.counts
    }
    guard !due.isEmpty else { return }
    writes.enqueue { [store] in
      for (use, times) in due { store.noteUse(of: use.key, for: use.request, times: times) }
    }
  }
}
