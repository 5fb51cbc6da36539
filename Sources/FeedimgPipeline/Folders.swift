import FeedimgSettings
import Glibc

/// The folders in which a loader keeps its files.
///
/// Each folder is derived on demand, so an unknown folder does not affect the others.
package struct Folders {
  private let configured: ImageLoader.Configuration
  private let paths: SettingsPaths

  package init(_ configuration: ImageLoader.Configuration) {
    configured = configuration
    let isHomeKnown = configuration.environment["HOME"]?.hasPrefix("/") ?? false
    let home = isHomeKnown ? nil : ProcessEnvironment.accountHome()
    paths = SettingsPaths(environment: configuration.environment, home: home)
  }

  /// The folder of the cached images.
  ///
  /// - Throws: ``ConfigurationError`` if neither the configuration nor the environment names it.
  package var cache: String {
    get throws(ConfigurationError) {
      try naming { () throws(SettingsError) in
        if let folder = configured.cacheFolder { try Self.checked(folder) } else { try paths.cacheFolder }
      }
    }
  }

  /// The folder of the settings and the user's policies.
  ///
  /// - Throws: ``ConfigurationError`` if neither the configuration nor the environment names it.
  package var configuration: String {
    get throws(ConfigurationError) {
      try naming { () throws(SettingsError) in
        if let folder = configured.configurationFolder {
          try Self.checked(folder)
        } else {
          try paths.configFolder
        }
      }
    }
  }

  /// The folder of the usage ledger.
  ///
  /// - Throws: ``ConfigurationError`` if neither the configuration nor the environment names it.
  package var usage: String { get throws(ConfigurationError) { "\(try state)/usage" } }

  /// The folder of the ledger and the last bandwidth.
  ///
  /// - Throws: ``ConfigurationError`` if neither the configuration nor the environment names it.
  package var state: String {
    get throws(ConfigurationError) {
      try naming { () throws(SettingsError) in
        if let folder = configured.stateFolder { try Self.checked(folder) } else { try paths.stateFolder }
      }
    }
  }

  private func naming(_ body: () throws(SettingsError) -> String) throws(ConfigurationError) -> String {
    do throws(SettingsError) {
      return try body()
    } catch {
      throw ConfigurationError([error.message])
    }
  }

  private static func checked(_ folder: String) throws(SettingsError) -> String {
    guard !folder.isEmpty else { throw SettingsError(.noFolder, "expected a folder, found an empty path") }
    // Make the path absolute, because programs with another working folder may read it.
    guard !folder.hasPrefix("/"), let current = getcwd(nil, 0) else { return folder }
    defer { free(current) }
    let start = folder.hasPrefix("./") ? folder.dropFirst(2) : folder[...]
    return "\(String(cString: current))/\(start)"
  }
}
