import FeedimgModel
import Glibc
import Synchronization
import TestSystem
import Testing

@testable import FeedimgSettings

struct SettingsFileTests {
  private let folder: TemporaryFolder
  private let file: SettingsFile

  init() throws {
    folder = try TemporaryFolder()
    file = SettingsFile(folder: folder.path)
  }

  @Test func `a missing file means defaults without a warning`() {
    #expect(file.read() == SettingsSnapshot())
    #expect(SettingsFile(folder: folder["no/such"]).read() == SettingsSnapshot())
    #expect(folder.names.isEmpty)
  }

  @Test func `a stored value can be read again`() throws {
    let written = try file.set(.cacheExpiryDays, to: "30")
    #expect(written.settings.cacheExpiryDays == 30)
    #expect(written.stored == [.cacheExpiryDays])
    #expect(file.read() == written)
    #expect(try folder.text(of: "settings.json") == "{\n  \"cache-expiry-days\": 30\n}\n")
  }

  @Test func `values are stored with their JSON type`() throws {
    _ = try file.set(.alwaysLoadOriginalsOnCellular, to: "yes")
    _ = try file.set(.cacheOriginalsLimit, to: "1.5 GB")
    let expected = """
      {
        "always-load-originals-on-cellular": true,
        "cache-originals-limit": "1500 MB"
      }

      """
    #expect(try folder.text(of: "settings.json") == expected)
  }

  @Test func `an unset value is the default again`() throws {
    _ = try file.set(.cacheExpiryDays, to: "30")
    #expect(try file.unset(.cacheExpiryDays).settings == UserSettings())
    #expect(try folder.text(of: "settings.json") == "{}\n")
  }

  @Test func `several values change in one write, or none of them`() throws {
    _ = try file.change([(.cacheExpiryDays, "30"), (.alwaysLoadOriginalsOnCellular, "yes")])
    let before = try #require(try folder.text(of: "settings.json"))
    #expect(before.contains("30") && before.contains("true"))
    #expect(throws: SettingsError.self) {
      try file.change([(.cacheExpiryDays, "3"), (.downloadLimit, "many")])
    }
    #expect(try folder.text(of: "settings.json") == before)
    let after = try file.change([(.cacheExpiryDays, nil), (.downloadLimit, "7 MB")])
    #expect(after.stored == [.alwaysLoadOriginalsOnCellular, .downloadLimit])
  }

  @Test func `unsetting without a file creates none`() throws {
    #expect(try file.unset(.cacheExpiryDays) == SettingsSnapshot())
    #expect(folder.names.isEmpty)
  }

  @Test func `settings of other versions, their order and their numbers stay`() throws {
    let before = #"{"future": {"b": 1.50, "a": "\u00e4"}, "cache-expiry-days" : 7 , "x": null}"#
    try folder.write(before, to: "settings.json")
    _ = try file.set(.cacheExpiryDays, to: "9")
    let after = """
      {
        "future": {
          "b": 1.50,
          "a": "ä"
        },
        "cache-expiry-days": 9,
        "x": null
      }

      """
    #expect(try folder.text(of: "settings.json") == after)
  }

  @Test func `missing folders are created for the user only`() throws {
    let deep = SettingsFile(folder: folder["home/.config/feedimg/"])
    _ = try deep.set(.cacheExpiryDays, to: "30")
    #expect(deep.read().settings.cacheExpiryDays == 30)
    #expect(folder.mode(of: "home/.config") == 0o700)
    #expect(folder.mode(of: "home/.config/feedimg") == 0o700)
  }

  @Test func `a new file is private, an existing one keeps its mode`() throws {
    _ = try file.set(.cacheExpiryDays, to: "30")
    #expect(folder.mode(of: "settings.json") == 0o600)
    chmod(folder["settings.json"], 0o644)
    _ = try file.set(.cacheExpiryDays, to: "31")
    #expect(folder.mode(of: "settings.json") == 0o644)
  }

  @Test func `writing the same value does not touch the file`() throws {
    _ = try file.set(.cacheExpiryDays, to: "30")
    var before = stat()
    var after = stat()
    stat(folder["settings.json"], &before)
    _ = try file.set(.cacheExpiryDays, to: "30")
    stat(folder["settings.json"], &after)
    #expect(before.st_ino == after.st_ino)
  }

  // MARK: Invalid files

  static let wrongValues = [
    (
      "cache-expiry-days", "\"soon\"",
      "a whole number from 1 to 36500, not `soon`; feedimg uses the default 7"
    ),
    ("cache-expiry-days", "1.5", "a whole number from 1 to 36500, not `1.5`; feedimg uses the default 7"),
    (
      "cache-originals-limit", "true",
      "a size such as `512 MiB`, not `true`; feedimg uses the default 512 MiB"
    ),
    ("cache-originals-limit", "-1", "a size such as `512 MiB`, not `-1`; feedimg uses the default 512 MiB"),
    (
      "always-load-originals-on-cellular", "\"yess\"",
      "`yes` or `no`, not `yess`; feedimg uses the default no"
    ),
    ("always-load-originals-on-cellular", "[]", "`yes` or `no`, not an array; feedimg uses the default no"),
  ]

  @Test(arguments: wrongValues)
  func `an invalid value affects only its setting`(_ name: String, _ value: String, _ message: String) throws
  {
    let text = "{\n  \"cache-memory-limit\": \"1 MiB\",\n  \"\(name)\": \(value)\n}\n"
    try folder.write(text, to: "settings.json")
    let snapshot = file.read()
    var expected = UserSettings()
    expected.cacheMemoryLimit = .mebibytes(1)
    #expect(snapshot.settings == expected)
    #expect(snapshot.stored == [.cacheMemoryLimit])
    #expect(snapshot.warnings == ["\(file.path):3: `\(name)` takes \(message)"])
    #expect(try folder.text(of: "settings.json") == text)
  }

  @Test func `a size may be a plain number of bytes, and null is not set`() throws {
    try folder.write(#"{"download-limit": 4096, "cache-expiry-days": null}"#, to: "settings.json")
    #expect(file.read().settings.downloadLimit == ByteCount(4096))
    #expect(file.read().stored == [.downloadLimit])
    #expect(file.read().warnings.isEmpty)
  }

  @Test func `a corrupt file means defaults and is reported, and reading it writes nothing`() throws {
    let content = "{\n  \"cache-expiry-days\": 30,\n}"
    try folder.write(content, to: "settings.json")
    for _ in 0..<2 {
      let snapshot = file.read()
      #expect(snapshot.settings == UserSettings())
      #expect(
        snapshot.warnings == [
          "\(file.path):3:1: expected a member name in quotes, found `}`; feedimg uses the defaults"
        ]
      )
    }
    #expect(folder.names == ["settings.json"])
  }

  @Test func `each replaced corrupt file is copied`() throws {
    for (number, content) in [(1, "{"), (2, "\u{0}\u{1}binary"), (3, "[]")] {
      try folder.write(content, to: "settings.json")
      let written = try file.set(.cacheExpiryDays, to: "30")
      #expect(written.settings.cacheExpiryDays == 30)
      #expect(written.warnings.count == 1)
      #expect(
        written.warnings.allSatisfy { $0.hasSuffix("kept in `\(file.path).corrupt-\(number)`") }
      )
      #expect(try folder.text(of: "settings.json.corrupt-\(number)") == content)
      #expect(file.read().warnings.isEmpty)
    }
  }

  @Test func `an empty file is not copied`() throws {
    try folder.write(" \n", to: "settings.json")
    #expect(file.read() == SettingsSnapshot())
    #expect(try file.set(.cacheExpiryDays, to: "30").warnings.isEmpty)
    #expect(!folder.names.contains("settings.json.corrupt-1"))
  }

  @Test func `an invalid value writes nothing`() throws {
    #expect(throws: SettingsError.self) { try file.set(.cacheExpiryDays, to: "soon") }
    #expect(folder.names.isEmpty)
  }
}
