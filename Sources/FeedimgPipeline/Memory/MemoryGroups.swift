/// The control groups whose memory limits hold for this process (cgroups(7)).
package struct MemoryGroups: Sendable, Hashable {
  enum Version: Sendable, Hashable {
    case one
    case two
  }

  var version: Version
  /// From the process's own one up to the uppermost that can be seen.
  var folders: [String]

  /// Nil where no group that limits memory can be seen.
  ///
  /// - Parameters:
  ///   - membership: The content of `/proc/self/cgroup`.
  ///   - mounts: The content of `/proc/self/mountinfo`.
  init?(membership: String, mounts: String) {
    let groups = membership.split(separator: "\n").map {
      $0.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
    }
    .filter { $0.count == 3 }
    // A controller is in one hierarchy at a time, so a first version with memory leaves none to the second.
    if let first = groups.first(where: { $0[1].split(separator: ",").contains("memory") }) {
      version = .one
      folders = Self.folders(of: first[2], in: mounts, type: "cgroup", option: "memory")
    } else if let second = groups.first(where: { $0[0] == "0" && $0[1].isEmpty }) {
      version = .two
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

  /// The lowest limit, in bytes, with the folder that sets it; nil where there is none.
  ///
  /// The kernel holds a process to the limits of all groups above it. Where a second version throttles before it
  /// kills (`memory.high`), that is the limit that counts.
  func limit(_ files: SystemFiles) -> (bytes: Int, folder: String)? {
    let names =
      switch version {
      case .one: ["memory.limit_in_bytes"]
      case .two: ["memory.max", "memory.high"]
      }
    return folders.flatMap { folder in
      names.compactMap { name in
        files.readNumber("\(folder)/\(name)").flatMap { $0 >= 0 ? (bytes: $0, folder: folder) : nil }
      }
    }
    .min { $0.bytes < $1.bytes }
  }

  /// The files that change when a limit is met; groups of the first version have none.
  var eventFiles: [String] { version == .two ? folders.map { $0 + "/memory.events" } : [] }

  /// A path of a group is relative to the root of its hierarchy, of which a container sees only what is mounted.
  private static func folders(
    of path: Substring,
    in mounts: String,
    type: String,
    option: Substring?
  ) -> [String] {
    for line in mounts.split(separator: "\n") {
      // proc_pid_mountinfo(5): what follows the hyphen is the type, the source and the options of the file system.
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
    // Outside of what this process may see.
    if parts.contains("..") { parts = [] }
    return (0...parts.count).reversed().map { ([mount[...]] + parts[..<$0]).joined(separator: "/") }
  }
}
