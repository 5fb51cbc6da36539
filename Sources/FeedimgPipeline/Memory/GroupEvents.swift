package import FeedimgSystem
import Glibc

/// The file `memory.events` of a control group, which counts how often the group reached its limits.
///
/// The kernel's `Documentation/admin-guide/cgroup-v2.rst` describes it. poll(2) reports `POLLPRI` after a
/// change, until the file is read again. One thread uses it.
package final class GroupEvents {
  /// The events that count: throttled at `memory.high`, or out of memory.
  ///
  /// Reaching `memory.max` (`max`) does not count. The page cache fills a group up to that limit, and each
  /// replaced page is such an event.
  private static let shortages: Set<Substring> = ["high", "oom", "oom_kill"]

  private let file: OpenFile
  private var count = 0

  /// Opens the file.
  ///
  /// - Throws: ``FileFault`` with the system's reason; groups of version 1 have no such file.
  package init(folder: String, _ files: SystemFiles) throws(FileFault) {
    file = try OpenFile(files.path("\(folder)/memory.events"), to: "open", O_RDONLY)
    _ = try hasNewShortage()
  }

  var descriptor: Int32 { file.descriptor }

  /// Returns whether the group reached a limit since the last call.
  ///
  /// - Throws: ``FileFault`` if the group was removed.
  func hasNewShortage() throws(FileFault) -> Bool {
    let before = count
    count = Self.count(in: String(decoding: try file.read(count: 1024), as: UTF8.self))
    return count > before
  }

  static func count(in text: String) -> Int {
    text.split(separator: "\n").reduce(0) { total, line in
      let fields = line.split(separator: " ")
      guard fields.count == 2, shortages.contains(fields[0]), let count = Int(fields[1]), count > 0 else {
        return total
      }
      return total &+ count
    }
  }
}

extension MemoryGroups {
  /// Opens the events of all groups that have them; a group counts those of the groups below it too.
  package func events(_ files: SystemFiles) -> [GroupEvents] {
    folders.compactMap { try? GroupEvents(folder: $0, files) }
  }
}
