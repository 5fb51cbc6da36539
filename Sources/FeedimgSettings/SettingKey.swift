import FeedimgModel

/// The settings that there are, each by the name that people and files use.
package enum SettingKey: String, Sendable, Hashable, CaseIterable {
  case alwaysLoadOriginalsOnCellular = "always-load-originals-on-cellular"
  case cacheOriginalsLimit = "cache-originals-limit"
  case cacheThumbnailsLimit = "cache-thumbnails-limit"
  case cachePinnedLimit = "cache-pinned-limit"
  case cacheMemoryLimit = "cache-memory-limit"
  case cacheExpiryDays = "cache-expiry-days"
  case downloadLimit = "download-limit"
  case dataSaver = "data-saver"
  case cellularBudget = "cellular-budget"
  case cellularBudgetDay = "cellular-budget-day"

  /// The setting of a name.
  ///
  /// - Throws: ``SettingsError`` with `unknownSetting` and the name that was most likely meant.
  package init(name: String) throws(SettingsError) {
    guard let key = Self(rawValue: name) else {
      let nearest = Spelling.nearest(to: name, among: Self.allCases.map(\.name))
      let hint = nearest.map { "did you mean `\($0)`?" } ?? "`feedimg settings list` shows them all"
      throw SettingsError(.unknownSetting, "there is no setting `\(name)`; \(hint)")
    }
    self = key
  }

  /// In kebab case, as in the file.
  package var name: String { rawValue }

  /// What the setting does, in one line.
  package var explanation: String {
    switch self {
    case .alwaysLoadOriginalsOnCellular:
      "load originals also where the network is cellular or of unknown kind"
    case .cacheOriginalsLimit: "the most that stored originals may take on disk"
    case .cacheThumbnailsLimit: "the most that stored thumbnails may take on disk"
    case .cachePinnedLimit: "the most that pinned images may take on disk, beside the others"
    case .cacheMemoryLimit: "the most that images may take in memory, in one process"
    case .cacheExpiryDays: "stored images unused for so many days are removed"
    case .downloadLimit: "a longer image is given up, and nothing of it kept"
    case .dataSaver: "spend as little as possible; policies may ask, and servers are told"
    case .cellularBudget: "the most to receive on cellular in a month; policies may ask what is left"
    case .cellularBudgetDay: "the day of the month on which the budget begins anew"
    }
  }

  /// The value in force where the user has set none, as ``value(in:)`` shows it.
  package var defaultValue: String { value(in: UserSettings()) }

  /// The field of ``UserSettings`` that the setting is, and so what its values look like.
  var field: SettingField {
    switch self {
    case .alwaysLoadOriginalsOnCellular: .choice(\.alwaysLoadOriginalsOnCellular)
    case .cacheOriginalsLimit: .size(\.cacheOriginalsLimit, least: ByteCount(0))
    case .cacheThumbnailsLimit: .size(\.cacheThumbnailsLimit, least: ByteCount(0))
    case .cachePinnedLimit: .size(\.cachePinnedLimit, least: ByteCount(0))
    case .cacheMemoryLimit: .optionalSize(\.cacheMemoryLimit, nilWord: "automatic")
    case .cacheExpiryDays: .count(\.cacheExpiryDays, 1...36_500)
    case .downloadLimit: .size(\.downloadLimit, least: ByteCount(1))
    case .dataSaver: .choice(\.savesData)
    case .cellularBudget: .optionalSize(\.cellularBudget, nilWord: "none")
    case .cellularBudgetDay: .count(\.cellularBudgetDay, 1...31)
    }
  }
}

/// A field of the settings with the values that it takes.
enum SettingField {
  case choice(WritableKeyPath<UserSettings, Bool>)
  case size(WritableKeyPath<UserSettings, ByteCount>, least: ByteCount)
  /// Nil is written as a word.
  case optionalSize(WritableKeyPath<UserSettings, ByteCount?>, nilWord: String)
  case count(WritableKeyPath<UserSettings, Int>, ClosedRange<Int>)

  /// In words that read on after "expected".
  var expectation: String {
    switch self {
    case .choice: "`yes` or `no`"
    case .size(_, let least) where least.bytes > 0: "a size above zero such as `64 MiB`"
    case .size: "a size such as `512 MiB`"
    case .optionalSize(_, let word): "`\(word)` or a size such as `512 MiB`"
    case .count(_, let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
    }
  }
}
