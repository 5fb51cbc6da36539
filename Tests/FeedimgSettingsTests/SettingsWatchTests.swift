import Glibc
import Testing

@testable import FeedimgSettings

/// What changes is told before the call that changes it returns, or soon after.
///
/// The kernel reports when the last one closes what was written, and a process that another test starts may hold it open
/// for a moment as well.
struct SettingsWatchTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    mkdir(folder["config"], 0o755)
    mkdir(folder["dotfiles"], 0o755)
    try folder.write("{}", to: "config/settings.json")
    try folder.write("{}", to: "dotfiles/settings.json")
  }

  /// Whether a change is told, at once or soon.
  private func isTold(_ watch: SettingsWatch) -> Bool {
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
    Change(testDescription: "replaced by the settings themselves") {
      _ = try SettingsFile(folder: $0["config"]).set(.cacheExpiryDays, to: "30")
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
  func `a change is told once, however it was made`(_ change: Change) throws {
    let watch = try #require(SettingsWatch(path: FilePath(folder["config/settings.json"])))
    #expect(!watch.hasChanged())
    try change.make(folder)
    #expect(isTold(watch))
    #expect(!watch.hasChanged())
  }

  @Test func `reading is no change`() throws {
    let watch = try #require(SettingsWatch(path: FilePath(folder["config/settings.json"])))
    _ = try folder.text(of: "config/settings.json")
    _ = SettingsFile(folder: folder["config"]).read()
    #expect(!watch.hasChanged())
  }

  @Test func `a change behind a link is told`() throws {
    symlink("../dotfiles/settings.json", folder["config/linked.json"])
    let watch = try #require(SettingsWatch(path: FilePath(folder["config/linked.json"])))
    try folder.write("{ }", to: "dotfiles/settings.json")
    #expect(isTold(watch))
  }

  @Test func `a change behind a link that was made later is told`() throws {
    let watch = try #require(SettingsWatch(path: FilePath(folder["config/settings.json"])))
    unlink(folder["config/settings.json"])
    symlink("../dotfiles/settings.json", folder["config/settings.json"])
    #expect(isTold(watch))
    try folder.write("{ }", to: "dotfiles/settings.json")
    #expect(isTold(watch))
  }

  @Test func `folders that come one by one are followed down to the file`() throws {
    let watch = try #require(SettingsWatch(path: FilePath(folder["a/b/c/settings.json"])))
    #expect(!watch.hasChanged())
    for name in ["a", "a/b", "a/b/c"] {
      mkdir(folder[name], 0o755)
      #expect(isTold(watch), "\(name)")
    }
    try folder.write("{}", to: "a/b/c/settings.json")
    #expect(isTold(watch))
  }

  @Test func `folders that come all at once are followed down to the file`() throws {
    let watch = try #require(SettingsWatch(path: FilePath(folder["a/b/c/settings.json"])))
    _ = try SettingsFile(folder: folder["a/b/c"]).set(.cacheExpiryDays, to: "30")
    #expect(isTold(watch))
    try folder.write("{}", to: "a/b/c/settings.json")
    #expect(isTold(watch))
  }

  @Test func `a folder that goes and comes back is followed`() throws {
    let watch = try #require(SettingsWatch(path: FilePath(folder["config/settings.json"])))
    rename(folder["config"], folder["old"])
    #expect(isTold(watch))
    mkdir(folder["config"], 0o755)
    #expect(isTold(watch))
    try folder.write("{}", to: "config/settings.json")
    #expect(isTold(watch))
  }

  @Test func `however many watch, the process has one of the kernel's instances`() throws {
    let paths = (0..<300).map { FilePath(folder["config/\($0).json"]) }
    let watches = paths.compactMap { SettingsWatch(path: $0) }
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
    // All look at the one folder.
    #expect(watches.allSatisfy { isTold($0) })
    #expect(!watches.contains { $0.hasChanged() })
  }

  @Test func `one that goes takes nothing from others that watch the same`() throws {
    let path = FilePath(folder["config/settings.json"])
    let watch = try #require(SettingsWatch(path: path))
    _ = try #require(SettingsWatch(path: path))
    try folder.write("{ }", to: "config/settings.json")
    #expect(isTold(watch))
  }

  @Test func `a folder that may not be looked into grants no watch`() {
    chmod(folder.path, 0o700)
    let path = FilePath(folder["config/settings.json"])
    let isGranted = withoutPrivileges {
      if geteuid() != 0 { chmod(folder.path, 0) }
      return SettingsWatch(path: path) != nil
    }
    chmod(folder.path, 0o700)
    #expect(!isGranted)
  }
}
