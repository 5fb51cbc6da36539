package import FeedimgSystem
import Glibc

/// The control groups whose memory limits apply to this process (cgroups(7)).
package struct MemoryGroups: Sendable, Hashable {
  /// The folders, from the process's own group to the highest visible one.
  var folders: [String]

  /// Finds the groups; nil if no group that limits memory is visible.
  ///
  /// - Parameters:
  ///   - membership: The content of `/proc/self/cgroup`.
  ///   - mounts: The content of `/proc/self/mountinfo`.
  init?(membership: String, mounts: String) {
    let groups = membership.split(separator: "\n").map {
      $0.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
    }
    .filter { $0.count == 3 }
    // A controller belongs to one hierarchy, so version 2 has no memory controller if version 1 has one.
    if let first = groups.first(where: { $0[1].split(separator: ",").contains("memory") }) {
      folders = Self.folders(of: first[2], in: mounts, type: "cgroup", option: "memory")
    } else if let second = groups.first(where: { $0[0] == "0" && $0[1].isEmpty }) {
      folders = Self.folders(of: second[2], in: mounts, type: "cgroup2", option: nil)
    } else {
      return nil
    }
    if folders.isEmpty { return nil }
  }

  package init?(_ files: SystemFiles) {
    guard let membership = files.read("/proc/self/cgroup"), let mounts = files.read("/proc/self/mountinfo")
    else { return nil }
    self.init(membership: membership, mounts: mounts)
  }

  /// Returns the lowest limit, in bytes, with the folder that sets it; nil if there is none.
  ///
  /// The kernel applies the limits of all parent groups. If a version 2 group throttles at `memory.high`
  /// before it kills at `memory.max`, `memory.high` is the limit.
  /// A version 1 group has `memory.limit_in_bytes` instead.
  func limit(_ files: SystemFiles) -> (bytes: Int, folder: String)? {
    let names = ["memory.max", "memory.high", "memory.limit_in_bytes"]
    return folders.flatMap { folder in
      names.compactMap { name in
        files.readNumber("\(folder)/\(name)").flatMap { $0 >= 0 ? (bytes: $0, folder: folder) : nil }
      }
    }
    .min { $0.bytes < $1.bytes }
  }

  /// Returns the visible folders of a group.
  ///
  /// The path of a group is relative to the root of its hierarchy. A container sees only the mounted part of
  /// it.
  private static func folders(
    of path: Substring,
    in mounts: String,
    type: String,
    option: Substring?
  ) -> [String] {
    for line in mounts.split(separator: "\n") {
      // proc_pid_mountinfo(5): the type, the source and the options of the file system follow the hyphen.
      let fields = line.split(separator: " ")
      guard let hyphen = fields.firstIndex(of: "-"), hyphen >= 6, fields.count > hyphen + 1 else { continue }
      guard fields[hyphen + 1] == type else { continue }
      let options = fields.last?.split(separator: ",") ?? []
      if let option, !options.contains(option) { continue }
      return folders(
        of: path,
        root: SystemFiles.unescaped(fields[3]),
        mount: SystemFiles.unescaped(fields[4])
      )
    }
    return []
  }

  private static func folders(of path: Substring, root: String, mount: String) -> [String] {
    var parts = path.split(separator: "/")
    let above = root.split(separator: "/")
    if parts.starts(with: above) { parts.removeFirst(above.count) } else { parts = [] }
    // The group is outside the part that this process can see.
    if parts.contains("..") { parts = [] }
    return (0...parts.count).reversed().map { ([mount[...]] + parts[..<$0]).joined(separator: "/") }
  }
}

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
  /// - Throws: ``FileError`` with the system's reason; groups of version 1 have no such file.
  package init(folder: String, _ files: SystemFiles) throws(FileError) {
    file = try OpenFile(files.path("\(folder)/memory.events"), to: "open", O_RDONLY)
    _ = try hasNewShortage()
  }

  var descriptor: Int32 { file.descriptor }

  /// Returns whether the group reached a limit since the last call.
  ///
  /// - Throws: ``FileError`` if the group was removed.
  func hasNewShortage() throws(FileError) -> Bool {
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
