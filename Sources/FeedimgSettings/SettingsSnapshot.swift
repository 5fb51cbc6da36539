import FeedimgJSON
package import FeedimgModel

/// The content of a settings file.
package struct SettingsSnapshot: Sendable, Hashable {
  /// The values of the file, and defaults for the others.
  package var settings = UserSettings()
  /// The settings with a valid value in the file.
  package var stored: Set<SettingKey> = []
  /// The problems of the file.
  package var warnings: [String] = []
  /// Whether the file could not be read; a later reading may succeed although the file does not change.
  var isUnreadable = false

  init() {}

  init(warning: String, isUnreadable: Bool = false) {
    warnings = [warning]
    self.isUnreadable = isUnreadable
  }

  /// Reads each setting separately, so that an invalid value does not affect the others.
  ///
  /// Null counts as not set.
  init(_ document: SettingsDocument, path: String) {
    for key in SettingKey.allCases {
      guard let value = document.object[key.name], value != .null else { continue }
      if key.assign(value, in: &settings) {
        stored.insert(key)
        continue
      }
      warnings.append(
        "\(path):\(document.line(of: key.name)): `\(key.name)` takes \(key.field.expectation), not \(Self.shown(value)); "
          + "feedimg uses the default \(key.defaultValue)"
      )
    }
    let marks = NetworkMarks(document, path: path)
    settings.markedNetworks = marks.networks
    warnings += marks.warnings
  }

  /// A short value as written in the file.
  ///
  /// For `1.5`, the kind "number" would not explain the error.
  private static func shown(_ value: JSONValue) -> String {
    switch value {
    case .string(let text), .number(let text): "`\(text)`"
    case .bool(let isTrue): "`\(isTrue)`"
    case .null, .array, .object: value.kind
    }
  }
}
