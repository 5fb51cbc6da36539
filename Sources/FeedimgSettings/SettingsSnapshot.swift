import FeedimgJSON
package import FeedimgModel

/// The content of a settings file.
package struct SettingsSnapshot: Sendable, Hashable {
  /// The values of the file, and defaults for the others.
  package var settings = UserSettings()
  /// The settings with a valid value in the file.
  package var stored: Set<SettingKey> = []
  /// The members of the file; nil if it is missing, blank or unusable.
  private(set) var object: JSONObject?
  /// The problems of the file.
  package var warnings: [String] = []
  /// Why nothing in the file could be used; nil if it is valid JSON or missing.
  private(set) var fault: String?
  /// Whether the file could not be read; a later reading may succeed although the file does not change.
  private(set) var isUnreadable = false

  init() {}

  /// The defaults, for a file that cannot be used.
  init(fault: String, isUnreadable: Bool = false) {
    warnings = ["\(fault); feedimg uses the defaults"]
    self.fault = fault
    self.isUnreadable = isUnreadable
  }

  /// Reads each setting separately, so that an invalid value does not affect the others.
  ///
  /// Null counts as not set.
  init(_ document: SettingsDocument, path: String) {
    object = document.isBlank ? nil : document.object
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
    let marks = MarkedNetworks(document, path: path)
    settings.markedNetworks = marks.networks
    warnings += marks.warnings
  }

  /// The same with the settings of an earlier version, if the file cannot be used.
  func keeping(_ valid: SettingsSnapshot) -> SettingsSnapshot {
    guard let fault else { return self }
    var kept = self
    (kept.settings, kept.stored) = (valid.settings, valid.stored)
    kept.warnings = ["\(fault); the earlier settings stay in force"]
    return kept
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
