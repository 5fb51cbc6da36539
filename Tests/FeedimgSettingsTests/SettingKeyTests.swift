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

  @Test func `every field of the settings can be set`() throws {
    var settings = UserSettings()
    let values: [SettingKey: String] = [
      .alwaysLoadOriginalsOnCellular: "yes", .cacheOriginalsLimit: "1 GiB", .cacheThumbnailsLimit: "0 B",
      .cachePinnedLimit: "2 MiB", .cacheMemoryLimit: "16 MiB", .cacheExpiryDays: "30",
      .downloadLimit: "300 kB",
      .dataSaver: "yes", .cellularBudget: "2 GB", .cellularBudgetDay: "15",
    ]
    for (key, value) in values {
      try key.assign(value, in: &settings)
      #expect(key.value(in: settings) == value)
    }
    #expect(values.count == SettingKey.allCases.count)
    #expect(settings.alwaysLoadOriginalsOnCellular)
    #expect(settings.cacheOriginalsLimit == .mebibytes(1024))
    #expect(settings.cacheThumbnailsLimit == ByteCount(0))
    #expect(settings.cachePinnedLimit == .mebibytes(2))
    #expect(settings.cacheMemoryLimit == .mebibytes(16))
    #expect(settings.cacheExpiryDays == 30)
    #expect(settings.downloadLimit == ByteCount(300_000))
    #expect(settings.savesData && settings.cellularBudgetDay == 15)
    #expect(settings.cellularBudget == ByteCount(2_000_000_000))
    try SettingKey.cellularBudget.assign("None", in: &settings)
    #expect(settings.cellularBudget == nil)
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
