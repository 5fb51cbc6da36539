import Glibc
import Synchronization
import TestSystem
import Testing

@testable import FeedimgSystem

/// The kernel reports a write when the last writer closes the file.
///
/// A process that another test starts may also hold the file open for a moment.
@Suite(.timeLimit(.minutes(10))) struct FileWatcherTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    mkdir(folder["config"], 0o755)
    mkdir(folder["dotfiles"], 0o755)
    try folder.write("{}", to: "config/settings.json")
    try folder.write("[]", to: "dotfiles/settings.json")
  }

  /// The text of a file at each callback, empty if there is no file; several unread ones yield the latest.
  private func callbacks(of file: String) -> AsyncStream<String> {
    let (stream, continuation) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingNewest(1))
    let folder = folder
    let watcher = FileWatcher([folder[file]]) {
      continuation.yield((try? folder.text(of: file)) ?? "")
    }
    continuation.onTermination = { _ in withExtendedLifetime(watcher) {} }
    return stream
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
      try AtomicFile($0["config/settings.json"]).locked { file throws(FileError) in
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
  func `a change is reported, however it was made`(_ change: Change) async throws {
    var texts = callbacks(of: "config/settings.json").makeAsyncIterator()
    #expect(await texts.next() == "{}")
    try change.make(folder)
    #expect(await texts.next() != nil)
  }

  @Test func `each change is reported`() async throws {
    var texts = callbacks(of: "config/settings.json").makeAsyncIterator()
    #expect(await texts.next() == "{}")
    for text in ["{ }", "{}", "{  }"] {
      try folder.write(text, to: "config/settings.json")
      while await texts.next() != text {}
    }
  }

  @Test func `reading is not a change`() async throws {
    let calls = Atomic(0)
    let watcher = FileWatcher([folder["config/settings.json"]]) { calls.add(1, ordering: .relaxed) }
    // The thread calls older watchers first, so the first call of a new one comes after all earlier calls.
    var settled = callbacks(of: "none").makeAsyncIterator()
    _ = await settled.next()
    let before = calls.load(ordering: .relaxed)
    _ = try folder.text(of: "config/settings.json")
    settled = callbacks(of: "none").makeAsyncIterator()
    _ = await settled.next()
    #expect(calls.load(ordering: .relaxed) == before)
    withExtendedLifetime(watcher) {}
  }

  @Test func `a change behind a link is reported`() async throws {
    symlink("../dotfiles/settings.json", folder["config/linked.json"])
    var texts = callbacks(of: "config/linked.json").makeAsyncIterator()
    #expect(await texts.next() == "[]")
    try folder.write("[ ]", to: "dotfiles/settings.json")
    while await texts.next() != "[ ]" {}
  }

  @Test func `a change behind a link that was created later is reported`() async throws {
    var texts = callbacks(of: "config/settings.json").makeAsyncIterator()
    #expect(await texts.next() == "{}")
    unlink(folder["config/settings.json"])
    symlink("../dotfiles/settings.json", folder["config/settings.json"])
    while await texts.next() != "[]" {}
    try folder.write("[ ]", to: "dotfiles/settings.json")
    while await texts.next() != "[ ]" {}
  }

  @Test func `folders that are created one by one are followed down to the file`() async throws {
    var texts = callbacks(of: "a/b/c/settings.json").makeAsyncIterator()
    #expect(await texts.next() == "")
    for name in ["a", "a/b", "a/b/c"] {
      mkdir(folder[name], 0o755)
      #expect(await texts.next() == "", "\(name)")
    }
    try folder.write("{}", to: "a/b/c/settings.json")
    while await texts.next() != "{}" {}
  }

  @Test func `folders that are created together are followed down to the file`() async throws {
    var texts = callbacks(of: "a/b/c/settings.json").makeAsyncIterator()
    #expect(await texts.next() == "")
    try AtomicFile(folder["a/b/c/settings.json"]).locked { file throws(FileError) in
      try file.replace(with: [0x7B, 0x7D])
    }
    while await texts.next() != "{}" {}
    try folder.write("{ }", to: "a/b/c/settings.json")
    while await texts.next() != "{ }" {}
  }

  @Test func `a folder that is removed and created again is followed`() async throws {
    var texts = callbacks(of: "config/settings.json").makeAsyncIterator()
    #expect(await texts.next() == "{}")
    rename(folder["config"], folder["old"])
    while await texts.next() != "" {}
    mkdir(folder["config"], 0o755)
    try folder.write("{ }", to: "config/settings.json")
    while await texts.next() != "{ }" {}
  }

  @Test func `all watchers of a process share one inotify instance`() async throws {
    var watches = (0..<300).map { callbacks(of: "config/\($0).json").makeAsyncIterator() }
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
    for index in watches.indices { #expect(await watches[index].next() == "") }
    // All watch the same folder.
    try folder.write("{}", to: "config/7.json")
    for index in watches.indices { #expect(await watches[index].next() != nil) }
  }

  @Test func `a released watcher does not affect others of the same file`() async throws {
    var texts = callbacks(of: "config/settings.json").makeAsyncIterator()
    #expect(await texts.next() == "{}")
    _ = FileWatcher([folder["config/settings.json"]]) {}
    try folder.write("{ }", to: "config/settings.json")
    while await texts.next() != "{ }" {}
  }

  @Test func `without inotify, callbacks come although nothing changes`() async {
    var texts = callbacks(of: "\(String(repeating: "x", count: 300))/file").makeAsyncIterator()
    for _ in 0..<2 { #expect(await texts.next() == "") }
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
