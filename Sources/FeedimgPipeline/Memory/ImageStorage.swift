package import FeedimgHTTPCache
import FeedimgModel
package import FeedimgSystem

/// The cache in memory and on disk, and the threads that use its files.
package final class ImageStorage: Sendable {
  package let store: any ImageStoring
  package let memory: MemoryCache
  let budget: MemoryBudget
  package let pressure: MemoryPressure
  /// The thread on which loads read files; starts with the first load.
  package let disk = ThreadExecutor("feedimg-disk")
  /// The thread that writes the cache and the usage ledger, so that no reader waits behind a write.
  package let writes = ThreadExecutor("feedimg-writes")
  let stores = StoresInFlight()
  let uses: MemoryUseRecorder

  /// - Parameters:
  ///   - store: The cache on disk.
  ///   - memory: The cache in memory.
  ///   - budget: The limits of the memory.
  ///   - identity: The program's request fields, by which the store chooses among responses of a URL.
  ///   - environment: The variables that name files of the system's memory pressure.
  package init(
    _ store: any ImageStoring,
    _ memory: MemoryCache,
    budget: MemoryBudget,
    identity: RequestIdentity,
    environment: [String: String]
  ) {
    (self.store, self.memory, self.budget) = (store, memory, budget)
    pressure = MemoryPressure(memory, environment: environment)
    uses = MemoryUseRecorder(of: store, for: identity.sent, on: writes)
    memory.whenFilled { [weak pressure] in pressure?.start() }
  }

  deinit {
    disk.stop()
    writes.stop()
  }
}
