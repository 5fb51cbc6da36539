package import FeedimgModel
import Glibc

/// How much memory images may take where the user has not said, and why.
package struct MemoryAllowance: Sendable, Hashable {
  /// Where the limit of the process comes from.
  package enum Origin: Sendable, Hashable {
    case machine
    /// The control group in this folder.
    case group(String)
  }

  /// What the process may use, in bytes.
  package var memory: Int
  package var origin: Origin

  /// What images may take: a sixteenth of what the process may use, from 8 MiB to 384 MiB.
  ///
  /// Libraries for phones take a fifth or a quarter, as one program has the screen there; on a desktop many have.
  /// More than 384 MiB holds more than a few screens of pixels even at 3840×2160. Less than 8 MiB holds no screen of
  /// thumbnails, but of a process that may use less than 32 MiB, a quarter is the most.
  package var share: ByteCount { ByteCount(min(max(memory / 16, min(8 << 20, memory / 4)), 384 << 20)) }

  /// Takes the memory of the machine as given, in bytes.
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
    // A system that does not tell counts as small: 1 GiB.
    guard pages > 0, size > 0 else { return 1 << 30 }
    return pages * size
  }
}
