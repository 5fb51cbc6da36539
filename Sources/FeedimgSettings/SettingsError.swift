/// The reason why a setting could not be read or changed.
package struct SettingsError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of error, to branch on.
  package enum Code: String, Sendable, Hashable, CaseIterable {
    /// There is no setting of that name.
    case unknownSetting
    /// The setting takes no such value.
    case invalidValue
    /// Neither the environment nor the account names a folder.
    case noFolder
    /// The file cannot be read, so that it must not be replaced either.
    case unreadable
    /// The folder or the file cannot be written.
    case unwritable
    /// Another process holds the lock for too long.
    case busy
  }

  package var code: Code
  /// One line in words, with the name or path, and a suggestion where there is one.
  package var message: String

  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  package var description: String { message }
}

/// A problem of the settings file with which the settings could still be read.
package struct SettingsWarning: Sendable, Hashable, CustomStringConvertible {
  /// One line in words, beginning with the path and the line where there is one.
  package var message: String

  package var description: String { message }
}
