@testable import FeedimgSettings

extension SettingsFile {
  func set(_ key: SettingKey, to text: String) throws(SettingsError) -> SettingsSnapshot {
    try change([(key, text)])
  }

  func unset(_ key: SettingKey) throws(SettingsError) -> SettingsSnapshot { try change([(key, nil)]) }
}

extension SettingsStore {
  func unset(_ key: SettingKey) throws(SettingsError) { try change([(key, nil)]) }
}
