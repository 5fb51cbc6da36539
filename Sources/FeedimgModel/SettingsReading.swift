/// Tells what the user has asked for (a port).
package protocol SettingsReading: Sendable {
  /// The settings as they are now, also when another process has just changed them.
  func currentSettings() -> UserSettings

  /// What the user should know of the settings although they could be told, each thing once, a line each.
  func takeWarnings() -> [String]

  /// The present settings at once, then whenever they change; ends when the consumer leaves.
  func changes() -> AsyncStream<UserSettings>
}
