package import FeedimgJSON
package import FeedimgModel

extension SettingKey {
  /// The value as people write it: `yes`, `512 MiB`, `7`.
  package func value(in settings: UserSettings) -> String {
    switch field {
    case .choice(let path): settings[keyPath: path] ? "yes" : "no"
    case .size(let path, _): settings[keyPath: path].description
    case .optionalSize(let path, let word): settings[keyPath: path]?.description ?? word
    case .count(let path, _): String(settings[keyPath: path])
    }
  }

  /// The value as the file has it: true or false, a size as people write it, a number.
  package func json(in settings: UserSettings) -> JSONValue {
    switch field {
    case .choice(let path): .bool(settings[keyPath: path])
    case .size(let path, _): .string(settings[keyPath: path].description)
    case .optionalSize: .string(value(in: settings))
    case .count(let path, _): .integer(settings[keyPath: path])
    }
  }

  /// Takes a value as a person types it.
  ///
  /// - Throws: ``SettingsError`` with `invalidValue`, what was expected, and a suggestion where one is near; the
  ///   settings are as before.
  package func assign(_ text: String, in settings: inout UserSettings) throws(SettingsError) {
    guard assign(typed: text, in: &settings) else {
      let hint = suggestion(for: text).map { "; did you mean `\($0)`?" } ?? ""
      throw SettingsError(.invalidValue, "`\(name)` takes \(field.expectation), not `\(text)`\(hint)")
    }
  }

  /// Takes a value as the file has it.
  ///
  /// A size may also be a plain number of bytes, and any value the text that people type, such as `"yes"`.
  ///
  /// - Returns: Whether the value fits; if not, the settings are as before.
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
    // The unit in the wrong case, or without its last letters: `512 mib`, `64m`.
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
