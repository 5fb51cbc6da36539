import FeedimgModel
import FeedimgSystem
import Glibc
import TestSystem
import Testing

@testable import FeedimgSettings

/// Files and folders that cannot be read or written, and links.
struct SettingsFileAccessTests {
  private let folder: TemporaryFolder
  private let file: SettingsFile

  init() throws {
    folder = try TemporaryFolder()
    file = SettingsFile(folder: folder.path)
  }

  @Test func `an unreadable file means defaults and is not replaced`() throws {
    try folder.write("{\"cache-expiry-days\": 30}", to: "settings.json")
    chmod(folder["settings.json"], 0)
    chmod(folder.path, 0o777)
    withoutPrivileges {
      let snapshot = file.read()
      #expect(snapshot.settings == UserSettings())
      #expect(
        snapshot.warnings == [
          "cannot read `\(file.path)`: permission denied; feedimg uses the defaults"
        ]
      )
      let error = #expect(throws: SettingsError.self) { try file.set(.cacheExpiryDays, to: "31") }
      #expect(error?.code == .unreadable)
      #expect(error?.message == "cannot read `\(file.path)`: permission denied; nothing was changed")
    }
    chmod(folder["settings.json"], 0o600)
    #expect(try folder.text(of: "settings.json") == "{\"cache-expiry-days\": 30}")
  }

  @Test func `a read-only folder is reported, and the file stays`() throws {
    try folder.write("{\"cache-expiry-days\": 30}", to: "settings.json")
    chmod(folder.path, 0o555)
    withoutPrivileges {
      #expect(file.read().settings.cacheExpiryDays == 30)
      let error = #expect(throws: SettingsError.self) { try file.set(.cacheExpiryDays, to: "31") }
      #expect(error?.code == .unwritable)
      #expect(
        error?.message
          == "cannot lock `\(folder[".settings.json.lock"])`: permission denied; nothing was changed"
      )
    }
    chmod(folder.path, 0o755)
    #expect(folder.names == ["settings.json"])
  }

  @Test func `a folder in place of the file is reported and stays`() throws {
    mkdir(folder["settings.json"], 0o755)
    #expect(
      file.read().warnings == [
        "cannot read `\(file.path)`: is a directory; feedimg uses the defaults"
      ]
    )
    let error = #expect(throws: SettingsError.self) { try file.set(.cacheExpiryDays, to: "31") }
    #expect(error?.code == .unreadable)
    #expect(throws: SettingsError.self) { try file.unset(.cacheExpiryDays) }
  }

  @Test func `a file in place of the folder is reported`() throws {
    try folder.write("", to: "file")
    let blocked = SettingsFile(folder: folder["file/feedimg"])
    #expect(blocked.read().settings == UserSettings())
    #expect(blocked.read().warnings.count == 1)
    let error = #expect(throws: SettingsError.self) { try blocked.set(.cacheExpiryDays, to: "31") }
    #expect(error?.code == .unwritable)
    #expect(error?.message == "cannot make `\(folder["file/feedimg"])`: not a directory; nothing was changed")
  }

  @Test func `a pipe in place of the file does not block`() {
    mkfifo(folder["settings.json"], 0o600)
    #expect(file.read().warnings.count == 1)
    #expect(throws: SettingsError.self) { try file.set(.cacheExpiryDays, to: "31") }
  }

  @Test func `a file that is too long is not read`() throws {
    try folder.write(String(repeating: " ", count: AtomicFile.maximumLength + 1), to: "settings.json")
    #expect(
      file.read().warnings == [
        "cannot read `\(file.path)`: file too large; feedimg uses the defaults"
      ]
    )
  }

  // MARK: Links

  @Test(arguments: ["dotfiles/feedimg.json", "absolute"])
  func `a link stays a link, and its target is replaced`(_ kind: String) throws {
    mkdir(folder["dotfiles"], 0o755)
    mkdir(folder["config"], 0o755)
    try folder.write("{\"cache-expiry-days\": 30}", to: "dotfiles/feedimg.json")
    let target = kind == "absolute" ? folder["dotfiles/feedimg.json"] : "../" + kind
    symlink(target, folder["config/settings.json"])
    let linked = SettingsFile(folder: folder["config"])
    #expect(linked.read().settings.cacheExpiryDays == 30)
    _ = try linked.set(.cacheExpiryDays, to: "31")
    #expect(linked.read().settings.cacheExpiryDays == 31)
    #expect(try folder.text(of: "dotfiles/feedimg.json") == "{\n  \"cache-expiry-days\": 31\n}\n")
    #expect(try FilePath(linked.path).links().count == 2)
    #expect(folder.mode(of: "dotfiles/feedimg.json") == 0o644)
  }

  @Test func `a link to a missing file creates its target`() throws {
    symlink("elsewhere.json", folder["settings.json"])
    #expect(file.read() == SettingsSnapshot())
    #expect(try file.unset(.cacheExpiryDays) == SettingsSnapshot())
    _ = try file.set(.cacheExpiryDays, to: "31")
    #expect(try folder.text(of: "elsewhere.json") == "{\n  \"cache-expiry-days\": 31\n}\n")
    #expect(try FilePath(file.path).links().count == 2)
  }

  @Test func `a loop of links is reported`() throws {
    symlink("other", folder["settings.json"])
    symlink("settings.json", folder["other"])
    #expect(file.read().warnings.count == 1)
    let error = #expect(throws: SettingsError.self) { try file.set(.cacheExpiryDays, to: "31") }
    #expect(error?.code == .unreadable)
  }

  static let paths = [
    ("/a/b", "/a", "b"), ("/a", "/", "a"), ("/", "/", "/"), ("a", ".", "a"), ("a/b", "a", "b"),
    ("/a//b/", "/a", "b"), ("./a", ".", "a"), ("//a", "/", "a"),
  ]

  @Test(arguments: paths)
  func `a path has a folder and a name`(_ path: String, _ folder: String, _ name: String) {
    #expect(FilePath(path).folder == folder)
    #expect(FilePath(path).name == name)
  }
}
