package import FeedimgHTTPCache
import FeedimgModel
import Synchronization

/// The memory for images: the user's limit, or else a share of the memory that the process may use.
package final class MemoryBudget: Sendable {
  private let files: SystemFiles
  private let isDecoding: Bool
  private let keepsNothing: Bool
  /// The share, which is read once, on first use.
  private let share = Mutex<ByteCount?>(nil)

  package init(isDecoding: Bool = false, keepsNothing: Bool = false, files: SystemFiles = SystemFiles()) {
    (self.isDecoding, self.keepsNothing) = (isDecoding, keepsNothing)
    self.files = files
  }

  package func limits(_ settings: UserSettings) -> MemoryLimits {
    let total = keepsNothing ? ByteCount(0) : settings.cacheMemoryLimit ?? standardTotal()
    return MemoryLimits(total: total, isDecoding: isDecoding)
  }

  private func standardTotal() -> ByteCount {
    if let share = share.withLock(\.self) { return share }
    let found = MemoryAllowance(files).share
    share.withLock { $0 = found }
    return found
  }
}
