import Glibc

/// Tells when control groups meet their memory limits, by their files `memory.events` (inotify(7)).
final class GroupEvents: Sendable {
  /// Readable when one of the files has changed.
  let descriptor: Int32
  private let files: SystemFiles
  private let paths: [String]

  /// What counts as a sign, by its name in the file: throttled at `memory.high`, held up at `memory.max`, or worse.
  private static let signs: Set<Substring> = ["high", "max", "oom", "oom_kill"]

  /// - Returns: Nil where there is no such file, or the system grants no watch.
  init?(_ groups: MemoryGroups, files: SystemFiles) {
    self.files = files
    descriptor = inotify_init1(Int32(O_NONBLOCK | O_CLOEXEC))
    let descriptor = descriptor
    guard descriptor >= 0 else { return nil }
    // The uppermost group has no such file.
    paths = groups.eventFiles.filter {
      inotify_add_watch(descriptor, files.path($0), UInt32(IN_MODIFY)) >= 0
    }
    if paths.isEmpty { return nil }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// How many signs there have been since the groups were made; those of a group count for those above it, too.
  func count() -> Int {
    var total = 0
    for path in paths { total += Self.count(in: files.read(path) ?? "") }
    return total
  }

  /// Takes in that files have changed.
  func drain() {
    var block = [UInt8](repeating: 0, count: 4096)
    while read(descriptor, &block, block.count) > 0 {}
  }

  static func count(in text: String) -> Int {
    text.split(separator: "\n").reduce(0) { total, line in
      let fields = line.split(separator: " ")
      guard fields.count == 2, signs.contains(fields[0]), let count = Int(fields[1]), count > 0 else {
        return total
      }
      return total &+ count
    }
  }
}
