import FeedimgJSON
package import FeedimgModel

/// The content of a settings file.
package struct SettingsReadout: Sendable, Hashable {
  /// Defaults where the file says nothing.
  package var settings = UserSettings()
  /// The settings with a valid value in the file.
  package var stored: Set<SettingKey> = []
  /// The invalid parts of the file, and why.
  package var warnings: [SettingsWarning] = []

  init() {}

  init(warning: String) { warnings = [SettingsWarning(message: warning)] }

  /// Reads each setting on its own, so that an invalid value loses only itself; null counts as not set.
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

  /// A short value as the file spells it: `1.5` is a number too, so that its kind would not explain the error.
  private static func shown(_ value: JSONValue) -> String {
    switch value {
    case .string(let text), .number(let text): "`\(text)`"
    case .bool(let isTrue): "`\(isTrue)`"
    case .null, .array, .object: value.kind
    }
  }
}
