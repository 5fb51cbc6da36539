package import FeedimgHTTPCache
package import FeedimgModel
package import FeedimgSystem
import Glibc
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

/// The memory for images if the user has set no limit, and its origin.
package struct MemoryAllowance: Sendable, Hashable {
  /// The origin of the process's limit.
  package enum Origin: Sendable, Hashable {
    case machine
    /// The control group in this folder.
    case group(String)
  }

  /// The memory that the process may use, in bytes.
  package var memory: Int
  package var origin: Origin

  /// The memory for images: a sixteenth of the process's memory, at least 8 MiB and at most 384 MiB.
  ///
  /// Libraries for phones take a fifth or a quarter, because one program fills the screen there. A desktop
  /// runs many programs.
  ///
  /// The upper limit, 384 MiB, holds a few screens of pixels even at 3840×2160. Less than 8 MiB holds no
  /// screen of thumbnails. A process with less than 32 MiB uses at most a quarter.
  package var share: ByteCount { ByteCount(min(max(memory / 16, min(8 << 20, memory / 4)), 384 << 20)) }

  /// Reads the limits of control groups; the memory of the machine is given, in bytes.
  init(machine: Int, files: SystemFiles) {
    memory = max(0, machine)
    origin = .machine
    if let limit = MemoryGroups(files)?.limit(files), limit.bytes < memory {
      memory = limit.bytes
      origin = .group(limit.folder)
    }
  }

  package init(_ files: SystemFiles) { self.init(machine: Self.machineMemory, files: files) }

  private static var machineMemory: Int {
    let (pages, size) = (sysconf(Int32(_SC_PHYS_PAGES)), sysconf(Int32(_SC_PAGESIZE)))
    // If the system does not report its memory, assume a small one: 1 GiB.
    guard pages > 0, size > 0 else { return 1 << 30 }
    return pages * size
  }
}
