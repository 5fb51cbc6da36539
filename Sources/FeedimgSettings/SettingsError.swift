/// A setting could not be read or changed.
package struct SettingsError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of error, for programs.
  package enum Code: String, Sendable, Hashable, CaseIterable {
    /// No setting has the name.
    case unknownSetting
    /// The value is invalid for the setting.
    case invalidValue
    /// Neither the environment nor the account has a home folder.
    case noFolder
    /// The file cannot be read, and is therefore not replaced.
    case unreadable
    /// The folder or the file cannot be written.
    case unwritable
    /// Another process held the lock for too long.
    case busy
  }

  package var code: Code
  /// One line with the name or path, and a suggestion if there is one.
  package var message: String

  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  package var description: String { message }
}
