import FeedimgJSON
package import FeedimgModel

/// What a settings file says.
package struct SettingsReadout: Sendable, Hashable {
  /// Defaults where the file says nothing.
  package var settings = UserSettings()
  /// The settings that the file has a valid value for.
  package var stored: Set<SettingKey> = []
  /// What in the file could not be used, and why.
  package var warnings: [SettingsWarning] = []

  init() {}

  init(warning: String) { warnings = [SettingsWarning(message: warning)] }

  /// Reads each setting on its own, so that a wrong value loses that setting alone; null counts as not set.
  init(_ document: SettingsDocument, path: String) {
    for key in SettingKey.allCases {
      guard let (value, line) = document.value(of: key.name), value != .null else { continue }
      if key.assign(value, in: &settings) {
        stored.insert(key)
        continue
      }
      warnings.append(
        SettingsWarning(
          message: "\(path):\(line): `\(key.name)` takes \(key.field.expectation), not \(Self.shown(value)); "
            + "the default \(key.defaultValue) holds"
        )
      )
    }
    let marks = NetworkMarks(document, path: path)
    settings.markedNetworks = marks.networks
    warnings += marks.warnings
  }

  /// As the file spells it where that is short: `1.5` is a number too, so that its kind would not tell what is wrong.
  private static func shown(_ value: JSONValue) -> String {
    switch value {
    case .string(let text), .number(let text): "`\(text)`"
    case .bool(let isTrue): "`\(isTrue)`"
    case .null, .array, .object: value.kind
    }
  }
}
