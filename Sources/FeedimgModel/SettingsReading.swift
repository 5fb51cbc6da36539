/// Reads the user's settings (a port).
package protocol SettingsReading: Sendable {
  /// The current settings, including changes that another process just made.
  func currentSettings() -> UserSettings

  /// New warnings about the settings, each once, one line each.
  func takeWarnings() -> [String]

  /// The current settings, then each change. Ends when the consumer stops.
  func changes() -> AsyncStream<UserSettings>
}
