import FeedimgJSON
import FeedimgModel
import Testing

@testable import FeedimgSettings

struct SettingKeyTests {
  @Test(arguments: SettingKey.allCases)
  func `a default stays the same after showing, typing, writing and reading`(_ key: SettingKey) throws {
    var typed = UserSettings()
    try key.assign(key.defaultValue, in: &typed)
    #expect(typed == UserSettings())
    var read = UserSettings()
    #expect(key.assign(key.json(in: UserSettings()), in: &read))
    #expect(read == UserSettings())
    #expect(!key.explanation.isEmpty && !key.explanation.contains("\n"))
  }

  @Test(arguments: SettingKey.allCases)
  func `a key sets the property of its name, and no other`(_ key: SettingKey) throws {
    var settings = UserSettings()
    let value = try #require(key.otherValue)
    try key.assign(value, in: &settings)
    #expect(key.value(in: settings) == value)
    #expect(Self.changes(of: settings) == ["\(key)"])
  }

  @Test func `every property has a key`() {
    let properties = Set(Mirror(reflecting: UserSettings()).children.compactMap(\.label))
    // The networks have a command of their own.
    #expect(properties == Set(SettingKey.allCases.map { "\($0)" } + ["markedNetworks"]))
  }

  /// The properties that differ from the default.
  private static func changes(of settings: UserSettings) -> [String] {
    zip(Mirror(reflecting: settings).children, Mirror(reflecting: UserSettings()).children)
      .filter { "\($0.value)" != "\($1.value)" }
      .compactMap(\.0.label)
  }

  static let typed: [(key: SettingKey, text: String, shown: String)] = [
    (.alwaysLoadOriginalsOnCellular, "YES", "yes"), (.cacheOriginalsLimit, "1 GiB", "1 GiB"),
    (.cacheThumbnailsLimit, "0 B", "0 B"), (.downloadLimit, "300 kB", "300 kB"),
    (.cellularBudget, "2 GB", "2 GB"), (.cellularBudget, "None", "none"),
    (.cellularBudgetDay, "31", "31"),
  ]

  @Test(arguments: typed)
  func `a typed value is shown in its usual form`(_ key: SettingKey, _ text: String, _ shown: String) throws {
    var settings = UserSettings()
    settings.cellularBudget = .mebibytes(1)
    try key.assign(text, in: &settings)
    #expect(key.value(in: settings) == shown)
  }

  static let names = [
    ("always-load-original-on-cellular", "did you mean `always-load-originals-on-cellular`?"),
    ("alwaysLoadOriginalsOnCellular", "did you mean `always-load-originals-on-cellular`?"),
    ("CACHE_ORIGINALS_LIMIT", "did you mean `cache-originals-limit`?"),
    ("cache-expiry", "did you mean `cache-expiry-days`?"),
    ("expiry", "did you mean `cache-expiry-days`?"),
    ("downlaod-limit", "did you mean `download-limit`?"),
    ("colour", "`feedimg settings list` shows all settings"),
    ("", "`feedimg settings list` shows all settings"),
  ]

  @Test(arguments: names)
  func `an unknown name gets a suggestion`(_ name: String, _ hint: String) {
    let error = #expect(throws: SettingsError.self) { try SettingKey(name: name) }
    #expect(error?.code == .unknownSetting)
    #expect(error?.message == "unknown setting `\(name)`; \(hint)")
  }

  static let values: [(SettingKey, String, String)] = [
    (.alwaysLoadOriginalsOnCellular, "yess", "`yes` or `no`, not `yess`; did you mean `yes`?"),
    (.alwaysLoadOriginalsOnCellular, "1", "`yes` or `no`, not `1`"),
    (.cacheOriginalsLimit, "512 mib", "a size such as `512 MiB`, not `512 mib`; did you mean `512 MiB`?"),
    (.cacheOriginalsLimit, "64m", "a size such as `512 MiB`, not `64m`; did you mean `64 MiB`?"),
    (.cacheOriginalsLimit, "lots", "a size such as `512 MiB`, not `lots`"),
    (.cacheOriginalsLimit, "-5 MiB", "a size such as `512 MiB`, not `-5 MiB`"),
    (.cacheOriginalsLimit, "99999999999 TiB", "a size such as `512 MiB`, not `99999999999 TiB`"),
    (.cellularBudget, "2gb", "`none` or a size such as `512 MiB`, not `2gb`; did you mean `2 GB`?"),
    (.cellularBudget, "nnoe", "`none` or a size such as `512 MiB`, not `nnoe`; did you mean `none`?"),
    (.cellularBudget, "-1", "`none` or a size such as `512 MiB`, not `-1`"),
    (.cellularBudgetDay, "32", "a whole number from 1 to 31, not `32`"),
    (.downloadLimit, "0", "a size above zero such as `64 MiB`, not `0`"),
    (.cacheMemoryLimit, "auto", "`automatic` or a size such as `512 MiB`, not `auto`"),
    (
      .cacheMemoryLimit, "automatik",
      "`automatic` or a size such as `512 MiB`, not `automatik`; did you mean `automatic`?"
    ),
    (
      .cacheMemoryLimit, "64 mib",
      "`automatic` or a size such as `512 MiB`, not `64 mib`; did you mean `64 MiB`?"
    ),
    (.cacheExpiryDays, "0", "a whole number from 1 to 36500, not `0`"),
    (.cacheExpiryDays, "7 days", "a whole number from 1 to 36500, not `7 days`; did you mean `7`?"),
    (.cacheExpiryDays, "", "a whole number from 1 to 36500, not ``"),
    (.cacheExpiryDays, "99999999999999999999", "a whole number from 1 to 36500, not `99999999999999999999`"),
  ]

  @Test(arguments: values)
  func `an invalid value is refused and changes nothing`(
    _ key: SettingKey,
    _ text: String,
    _ message: String
  ) {
    var settings = UserSettings()
    let error = #expect(throws: SettingsError.self) { try key.assign(text, in: &settings) }
    #expect(error?.code == .invalidValue)
    #expect(error?.message == "`\(key.name)` takes \(message)")
    #expect(settings == UserSettings())
  }

  @Test func `a choice may be typed in several forms`() throws {
    var settings = UserSettings()
    for (text, expected) in [("yes", true), ("No", false), ("true", true), ("off", false), ("ON", true)] {
      try SettingKey.alwaysLoadOriginalsOnCellular.assign(text, in: &settings)
      #expect(settings.alwaysLoadOriginalsOnCellular == expected, "\(text)")
    }
  }

  @Test(arguments: [("yes", true), ("off", false), ("True", true)])
  func `a choice in the file may be a word in quotes`(_ word: String, _ expected: Bool) {
    var settings = UserSettings()
    settings.alwaysLoadOriginalsOnCellular = !expected
    #expect(SettingKey.alwaysLoadOriginalsOnCellular.assign(.string(word), in: &settings))
    #expect(settings.alwaysLoadOriginalsOnCellular == expected)
    #expect(!SettingKey.alwaysLoadOriginalsOnCellular.assign(.string("maybe"), in: &settings))
  }
}

extension SettingKey {
  /// A valid value that is not the default.
  fileprivate var otherValue: String? {
    switch field {
    case .choice: ["yes", "no"].first { $0 != defaultValue }
    case .size, .optionalSize: ["3 MiB", "4 MiB"].first { $0 != defaultValue }
    case .count(_, let range): ["\(range.lowerBound)", "\(range.upperBound)"].first { $0 != defaultValue }
    }
  }
}
