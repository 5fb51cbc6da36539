import FeedimgSystem

/// The limits that control groups have reached, from their files `memory.events`.
package struct GroupEvents: Sendable {
  private let watcher: FileWatcher
  private let files: SystemFiles
  private let paths: [String]

  /// The events that count: throttled at `memory.high`, or out of memory.
  ///
  /// Reaching `memory.max` (`max`) does not count. The page cache fills a group up to that limit, and each
  /// replaced page is such an event (cgroup-v2, "Memory Interface Files").
  private static let signs: Set<Substring> = ["high", "oom", "oom_kill"]

  /// Watches the files; nil if there is none, or the system grants no watch.
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

  /// Returns the number of events since the groups were made; an event of a group also counts for its
  /// parents.
  func count() -> Int {
    paths.reduce(0) { $0 + Self.count(in: files.read($1) ?? "") }
  }

  /// Returns whether files have changed since the last call.
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
