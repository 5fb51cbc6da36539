package import FeedimgHTTPCache
import FeedimgModel
package import FeedimgSystem
import Synchronization

/// The memory for images: the user's limit, or else a share of the memory that the process may use.
///
/// The program may set a lower limit.
package final class MemoryBudget: Sendable {
  private let files: SystemFiles
  private let isDecoding: Bool
  private let keepsNothing: Bool
  private let limit: ByteCount?
  /// The share, which is read once, on first use.
  private let share = Mutex<ByteCount?>(nil)

  package init(
    isDecoding: Bool = false,
    keepsNothing: Bool = false,
    limit: ByteCount? = nil,
    files: SystemFiles = SystemFiles()
  ) {
    (self.isDecoding, self.keepsNothing, self.limit) = (isDecoding, keepsNothing, limit)
    self.files = files
  }

  package func limits(_ settings: UserSettings) -> MemoryLimits {
    let total = keepsNothing ? ByteCount(0) : settings.cacheMemoryLimit ?? standardTotal()
    return MemoryLimits(total: limit.map { min($0, total) } ?? total, isDecoding: isDecoding)
  }

  private func standardTotal() -> ByteCount {
    if let share = share.withLock(\.self) { return share }
    let found = MemoryAllowance(files).share
    share.withLock { $0 = found }
    return found
  }
}
