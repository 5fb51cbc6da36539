import FeedimgSystem

/// The limits that control groups have met, from their files `memory.events`.
package struct GroupEvents: Sendable {
  private let watcher: FileWatcher
  private let files: SystemFiles
  private let paths: [String]

  /// The events that count: throttled at `memory.high`, or out of memory.
  ///
  /// Meeting `memory.max` (`max`) does not count: the page cache fills a group up to there, and each page that replaces
  /// another counts (cgroup-v2, "Memory Interface Files").
  private static let signs: Set<Substring> = ["high", "oom", "oom_kill"]

  /// Nil where there is no such file, or the system grants no watch.
  ///
  /// - Parameters:
  ///   - groups: The groups that limit this process.
  ///   - files: The files of the kernel.
  ///   - onEvent: See ``FileWatcher``.
  package init?(_ groups: MemoryGroups, files: SystemFiles, onEvent: (@Sendable () -> Void)? = nil) {
    let watched = groups.eventFiles.map { files.path($0) }
    guard let watcher = FileWatcher(contentsOf: watched, onChange: onEvent) else { return nil }
    self.watcher = watcher
    self.files = files
    paths = groups.eventFiles
  }

  /// The number of events since the groups were made; those of a group count for the groups above it, too.
  func count() -> Int {
    paths.reduce(0) { $0 + Self.count(in: files.read($1) ?? "") }
  }

  /// Whether files have changed since the last call.
  func haveChanged() -> Bool { watcher.hasChanged() }

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
