import FeedimgSettings
import Glibc

/// Tells when control groups meet their memory limits, by their files `memory.events` (inotify(7)).
package final class GroupEvents: Sendable {
  private let interest: FileInterest
  private let files: SystemFiles
  private let paths: [String]

  /// What counts as a sign, by its name in the file: throttled at `memory.high`, or out of memory.
  ///
  /// That `memory.max` was met (`max`) is none: the pages of files that were read fill a group up to there, and each
  /// that gives way to another counts (cgroup-v2, "Memory Interface Files").
  private static let signs: Set<Substring> = ["high", "oom", "oom_kill"]

  /// Nil where there is no such file, or the system grants no watch.
  ///
  /// - Parameters:
  ///   - groups: Those that hold for this process.
  ///   - files: Where they are.
  ///   - onEvent: See ``FileInterest``.
  package init?(_ groups: MemoryGroups, files: SystemFiles, onEvent: (@Sendable () -> Void)? = nil) {
    guard !groups.eventFiles.isEmpty, let interest = FileInterest(onEvent: onEvent) else { return nil }
    self.interest = interest
    self.files = files
    // The uppermost group has no such file.
    paths = groups.eventFiles.filter { interest.watch(files.path($0), UInt32(IN_MODIFY)) }
    if paths.isEmpty { return nil }
  }

  /// How many signs there have been since the groups were made; those of a group count for those above it, too.
  func count() -> Int {
    var total = 0
    for path in paths { total += Self.count(in: files.read(path) ?? "") }
    return total
  }

  /// Whether files have changed since the last call.
  func haveChanged() -> Bool { interest.hasChanged() }

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
