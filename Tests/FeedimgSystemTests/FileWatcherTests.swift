import Glibc
import Synchronization
import TestSystem
import Testing

@testable import FeedimgSystem

/// A change is reported before the call that makes it returns, or soon after.
///
/// The kernel reports a write when the last writer closes the file. A process that another test starts may
/// also hold it open for a moment.
@Suite(.timeLimit(.minutes(10))) struct FileWatcherTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    mkdir(folder["config"], 0o755)
    mkdir(folder["dotfiles"], 0o755)
    try folder.write("{}", to: "config/settings.json")
    try folder.write("{}", to: "dotfiles/settings.json")
  }

  /// Whether a change is reported, at once or soon.
  private func isReported(_ watch: FileWatcher) -> Bool {
    for _ in 0..<60_000 {
      if watch.hasChanged() { return true }
      poll(nil, 0, 1)
    }
    return false
  }

  struct Change: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var make: @Sendable (TemporaryFolder) throws -> Void
  }

  static let changes = [
    Change(testDescription: "written in place") { try $0.write("{ }", to: "config/settings.json") },
    Change(testDescription: "replaced by a new file, as editors do") {
      try $0.write("{ }", to: "new.json")
      rename($0["new.json"], $0["config/settings.json"])
    },
    Change(testDescription: "replaced atomically") {
      try AtomicFile($0["config/settings.json"]).locked { file throws(FileFault) in
        try file.replace(with: [0x7B, 0x7D])
      }
    },
    Change(testDescription: "moved away") { rename($0["config/settings.json"], $0["old.json"]) },
    Change(testDescription: "removed") { unlink($0["config/settings.json"]) },
    Change(testDescription: "made unreadable") { chmod($0["config/settings.json"], 0) },
    Change(testDescription: "replaced by a link") {
      unlink($0["config/settings.json"])
      symlink("../dotfiles/settings.json", $0["config/settings.json"])
    },
    Change(testDescription: "its folder moved away") { rename($0["config"], $0["old"]) },
    Change(testDescription: "its folder removed") {
      unlink($0["config/settings.json"])
      rmdir($0["config"])
    },
  ]

  @Test(arguments: changes)
  func `a change is reported once, however it was made`(_ change: Change) throws {
    let watch = FileWatcher([folder["config/settings.json"]])
    #expect(!watch.hasChanged())
    try change.make(folder)
    #expect(isReported(watch))
    #expect(!watch.hasChanged())
  }

  @Test func `reading is not a change`() throws {
    let watch = FileWatcher([folder["config/settings.json"]])
    _ = try folder.text(of: "config/settings.json")
    #expect(!watch.hasChanged())
  }

  @Test func `a change behind a link is reported`() throws {
    symlink("../dotfiles/settings.json", folder["config/linked.json"])
    let watch = FileWatcher([folder["config/linked.json"]])
    try folder.write("{ }", to: "dotfiles/settings.json")
    #expect(isReported(watch))
  }

  @Test func `a change behind a link that was created later is reported`() throws {
    let watch = FileWatcher([folder["config/settings.json"]])
    unlink(folder["config/settings.json"])
    symlink("../dotfiles/settings.json", folder["config/settings.json"])
    #expect(isReported(watch))
    try folder.write("{ }", to: "dotfiles/settings.json")
    #expect(isReported(watch))
  }

  @Test func `folders that are created one by one are followed down to the file`() throws {
    let watch = FileWatcher([folder["a/b/c/settings.json"]])
    #expect(!watch.hasChanged())
    for name in ["a", "a/b", "a/b/c"] {
      mkdir(folder[name], 0o755)
      #expect(isReported(watch), "\(name)")
    }
    try folder.write("{}", to: "a/b/c/settings.json")
    #expect(isReported(watch))
  }

  @Test func `folders that are created together are followed down to the file`() throws {
    let watch = FileWatcher([folder["a/b/c/settings.json"]])
    try AtomicFile(folder["a/b/c/settings.json"]).locked { file throws(FileFault) in
      try file.replace(with: [0x7B, 0x7D])
    }
    #expect(isReported(watch))
    try folder.write("{}", to: "a/b/c/settings.json")
    #expect(isReported(watch))
  }

  @Test func `a folder that is removed and created again is followed`() throws {
    let watch = FileWatcher([folder["config/settings.json"]])
    rename(folder["config"], folder["old"])
    #expect(isReported(watch))
    mkdir(folder["config"], 0o755)
    #expect(isReported(watch))
    try folder.write("{}", to: "config/settings.json")
    #expect(isReported(watch))
  }

  @Test func `all watchers of a process share one inotify instance`() throws {
    let paths = (0..<300).map { folder["config/\($0).json"] }
    let watches = paths.map { FileWatcher([$0]) }
    #expect(watches.count == 300)
    let descriptors = try #require(opendir("/proc/self/fd"))
    defer { closedir(descriptors) }
    var instances = 0
    while let entry = readdir(descriptors) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      var target = [CChar](repeating: 0, count: 64)
      if readlink("/proc/self/fd/\(name)", &target, 63) > 0, strcmp(target, "anon_inode:inotify") == 0 {
        instances += 1
      }
    }
    #expect(instances == 1)
    try folder.write("{}", to: "config/7.json")
    // All watch the same folder.
    #expect(watches.allSatisfy { isReported($0) })
    #expect(!watches.contains { $0.hasChanged() })
  }

  @Test func `a released watcher does not affect others of the same file`() throws {
    let path = folder["config/settings.json"]
    let watch = FileWatcher([path])
    _ = FileWatcher([path])
    try folder.write("{ }", to: "config/settings.json")
    #expect(isReported(watch))
  }

  @Test func `a folder without search permission cannot be watched`() {
    chmod(folder.path, 0o700)
    let path = folder["config/settings.json"]
    let isRefused = withoutPrivileges {
      if geteuid() != 0 { chmod(folder.path, 0) }
      let watcher = FileWatcher([path])
      return watcher.hasChanged() && watcher.hasChanged()
    }
    chmod(folder.path, 0o700)
    #expect(isRefused)
  }

  @Test func `without inotify, each query reports a possible change`() {
    let watcher = FileWatcher(["\(folder.path)/\(String(repeating: "x", count: 300))/file"])
    #expect(watcher.hasChanged() && watcher.hasChanged())
  }

  // MARK: Callbacks

  /// One element for each callback; several unread ones yield one element.
  private func callbacks(of path: String) -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let watcher = FileWatcher([path], onChange: { continuation.yield() })
    continuation.onTermination = { _ in withExtendedLifetime(watcher) {} }
    return stream
  }

  @Test func `a callback runs once at first, then after each change`() async throws {
    var changes = callbacks(of: folder["config/settings.json"]).makeAsyncIterator()
    await changes.next()
    for text in ["{ }", "{}"] {
      try folder.write(text, to: "config/settings.json")
      await changes.next()
    }
  }

  @Test func `a callback finds the file in folders that were created one by one`() async throws {
    let folder = folder
    var changes = callbacks(of: folder["a/b/settings.json"]).makeAsyncIterator()
    await changes.next()
    for name in ["a", "a/b"] { mkdir(folder[name], 0o755) }
    while access(folder["a/b"], F_OK) != 0 { await changes.next() }
    try folder.write("{}", to: "a/b/settings.json")
    while access(folder["a/b/settings.json"], F_OK) != 0 { await changes.next() }
  }

  @Test func `a query by another watcher consumes no callback`() async throws {
    let path = folder["config/settings.json"]
    let (looking, other) = (FileWatcher([path]), FileWatcher([path]))
    var changes = callbacks(of: path).makeAsyncIterator()
    await changes.next()
    for _ in 1...50 {
      try folder.write("{ }", to: "config/settings.json")
      #expect(isReported(looking))
      _ = other.hasChanged()
      await changes.next()
    }
  }

  @Test func `a released watcher releases its callback`() async throws {
    /// Finishes the stream when it is released.
    final class Token: Sendable {
      let continuation: AsyncStream<Void>.Continuation

      init(_ continuation: AsyncStream<Void>.Continuation) { self.continuation = continuation }

      deinit { continuation.finish() }
    }
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    let path = folder["config/settings.json"]
    func makeWatcher() -> FileWatcher? {
      let token = Token(continuation)
      return FileWatcher([path]) { token.continuation.yield() }
    }
    var watcher = makeWatcher()
    #expect(watcher != nil)
    var calls = stream.makeAsyncIterator()
    #expect(await calls.next() != nil)
    watcher = nil
    while await calls.next() != nil {}
  }
}
