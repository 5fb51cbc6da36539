package import FeedimgJSON
package import FeedimgModel

/// The settings, with their names on the command line and in the file.
///
/// Each case has the name of its property of `UserSettings`.
package enum SettingKey: String, Sendable, Hashable, CaseIterable {
  case alwaysLoadOriginalsOnCellular = "always-load-originals-on-cellular"
  case cacheOriginalsLimit = "cache-originals-limit"
  case cacheThumbnailsLimit = "cache-thumbnails-limit"
  case cachePinnedLimit = "cache-pinned-limit"
  case cacheMemoryLimit = "cache-memory-limit"
  case cacheExpiryDays = "cache-expiry-days"
  case downloadLimit = "download-limit"
  case savesData = "data-saver"
  case cellularBudget = "cellular-budget"
  case cellularBudgetDay = "cellular-budget-day"

  /// Finds the setting with a name.
  ///
  /// - Throws: ``SettingsError`` with `unknownSetting` and the nearest name.
  package init(name: String) throws(SettingsError) {
    guard let key = Self(rawValue: name) else {
      let nearest = Spelling.nearest(to: name, among: Self.allCases.map(\.name))
      let hint = nearest.map { "did you mean `\($0)`?" } ?? "`feedimg settings list` shows all settings"
      throw SettingsError(.unknownSetting, "unknown setting `\(name)`; \(hint)")
    }
    self = key
  }

  /// In kebab case, as in the file.
  package var name: String { rawValue }

  /// The purpose of the setting, in one line.
  package var explanation: String {
    switch self {
    case .alwaysLoadOriginalsOnCellular:
      "load originals also on cellular networks and networks of unknown kind"
    case .cacheOriginalsLimit: "the disk space for originals"
    case .cacheThumbnailsLimit: "the disk space for thumbnails"
    case .cachePinnedLimit: "the disk space for pinned images, in addition to the others"
    case .cacheMemoryLimit: "the memory for images in one process"
    case .cacheExpiryDays: "the number of days after which unused images expire"
    case .downloadLimit: "the longest image; longer images are not loaded or stored"
    case .savesData: "use less data; policies may use this, and requests send `Save-Data`"
    case .cellularBudget: "the data budget for cellular networks per month, for policies that use it"
    case .cellularBudgetDay: "the day of the month on which the budget period starts"
    }
  }

  /// The value if the user has set none, formatted as by ``value(in:)``.
  package var defaultValue: String { value(in: UserSettings()) }

  /// The field of ``UserSettings`` and its valid values.
  var field: SettingField {
    switch self {
    case .alwaysLoadOriginalsOnCellular: .choice(\.alwaysLoadOriginalsOnCellular)
    case .cacheOriginalsLimit: .size(\.cacheOriginalsLimit, least: ByteCount(0))
    case .cacheThumbnailsLimit: .size(\.cacheThumbnailsLimit, least: ByteCount(0))
    case .cachePinnedLimit: .size(\.cachePinnedLimit, least: ByteCount(0))
    case .cacheMemoryLimit: .optionalSize(\.cacheMemoryLimit, nilWord: "automatic")
    case .cacheExpiryDays: .count(\.cacheExpiryDays, 1...36_500)
    case .downloadLimit: .size(\.downloadLimit, least: ByteCount(1))
    case .savesData: .choice(\.savesData)
    case .cellularBudget: .optionalSize(\.cellularBudget, nilWord: "none")
    case .cellularBudgetDay: .count(\.cellularBudgetDay, 1...31)
    }
  }
}

/// A field of ``UserSettings`` and its valid values.
enum SettingField {
  case choice(WritableKeyPath<UserSettings, Bool>)
  case size(WritableKeyPath<UserSettings, ByteCount>, least: ByteCount)
  /// `nilWord` is the text for nil.
  case optionalSize(WritableKeyPath<UserSettings, ByteCount?>, nilWord: String)
  case count(WritableKeyPath<UserSettings, Int>, ClosedRange<Int>)

  /// The valid values in words, to follow "expected" or "takes".
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

extension SettingKey {
  /// The value as text: `yes`, `512 MiB`, `7`.
  package func value(in settings: UserSettings) -> String {
    switch field {
    case .choice(let path): settings[keyPath: path] ? "yes" : "no"
    case .size(let path, _): settings[keyPath: path].description
    case .optionalSize(let path, let word): settings[keyPath: path]?.description ?? word
    case .count(let path, _): String(settings[keyPath: path])
    }
  }

  /// The value as JSON: true or false, a size as text, or a number.
  package func json(in settings: UserSettings) -> JSONValue {
    switch field {
    case .choice(let path): .bool(settings[keyPath: path])
    case .size(let path, _): .string(settings[keyPath: path].description)
    case .optionalSize: .string(value(in: settings))
    case .count(let path, _): .integer(settings[keyPath: path])
    }
  }

  /// Sets the value from text that a user typed.
  ///
  /// - Throws: ``SettingsError`` with `invalidValue`; the settings then stay unchanged.
  package func assign(_ text: String, in settings: inout UserSettings) throws(SettingsError) {
    guard assign(typed: text, in: &settings) else {
      let hint = suggestion(for: text).map { "; did you mean `\($0)`?" } ?? ""
      throw SettingsError(.invalidValue, "`\(name)` takes \(field.expectation), not `\(text)`\(hint)")
    }
  }

  /// Sets the value from JSON, as in the file.
  ///
  /// A size may also be a number of bytes, and any value may be text, such as `"yes"`.
  ///
  /// - Returns: Whether the value is valid. If not, the settings stay unchanged.
  func assign(_ json: JSONValue, in settings: inout UserSettings) -> Bool {
    switch (field, json) {
    case (.choice(let path), .bool(let value)):
      settings[keyPath: path] = value
      return true
    case (_, .string(let text)), (.size, .number(let text)), (.optionalSize, .number(let text)):
      return assign(typed: text, in: &settings)
    case (.count, .number):
      return json.integer.map { assign(typed: String($0), in: &settings) } ?? false
    default:
      return false
    }
  }

  private func assign(typed text: String, in settings: inout UserSettings) -> Bool {
    switch field {
    case .choice(let path):
      guard let value = Self.choices[text.lowercased()] else { return false }
      settings[keyPath: path] = value
    case .size(let path, let least):
      guard let size = ByteCount(text), size >= least else { return false }
      settings[keyPath: path] = size
    case .optionalSize(let path, let word):
      guard text.lowercased() != word else {
        settings[keyPath: path] = nil
        return true
      }
      guard let size = ByteCount(text) else { return false }
      settings[keyPath: path] = size
    case .count(let path, let range):
      guard let count = Int(text), range.contains(count) else { return false }
      settings[keyPath: path] = count
    }
    return true
  }

  private static let choices = [
    "yes": true, "true": true, "on": true, "no": false, "false": false, "off": false,
  ]

  private func suggestion(for text: String) -> String? {
    switch field {
    case .choice:
      return Spelling.nearest(to: text, among: ["yes", "no", "true", "false"])
    case .optionalSize(_, let word):
      return Spelling.nearest(to: text, among: [word]) ?? nearestSize(to: text, least: ByteCount(0))
    case .size(_, let least):
      return nearestSize(to: text, least: least)
    case .count(_, let range):
      let digits = text.prefix { $0.isASCII && $0.isNumber }
      return Int(digits).flatMap { range.contains($0) ? String($0) : nil }
    }
  }

  private func nearestSize(to text: String, least: ByteCount) -> String? {
    // The unit in the wrong case, or only its first letter: `512 mib`, `64m`.
    let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    let unit = text.dropFirst(number.count).lowercased().filter { $0 != " " }
    let units = ["KiB", "MiB", "GiB", "TiB", "kB", "MB", "GB", "TB"]
    let meant = units.first {
      !unit.isEmpty && [$0.lowercased(), "\($0.lowercased().first ?? "b")"].contains(unit)
    }
    guard let meant, let size = ByteCount("\(number) \(meant)"), size >= least else { return nil }
    return "\(number) \(meant)"
  }
}
