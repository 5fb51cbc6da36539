import FeedimgSettings
import Glibc

/// Where a loader keeps its files.
///
/// Each is derived when it is asked for, so that one without a place does not stand in the way of another.
package struct Folders {
  private let configured: ImageLoader.Configuration
  private let paths: SettingsPaths

  package init(_ configuration: ImageLoader.Configuration) {
    configured = configuration
    let isHomeKnown = configuration.environment["HOME"]?.hasPrefix("/") ?? false
    let home = isHomeKnown ? nil : ProcessEnvironment.accountHome()
    paths = SettingsPaths(environment: configuration.environment, home: home)
  }

  /// Where images are kept.
  ///
  /// - Throws: ``ConfigurationError`` where neither the configuration nor the environment names it.
  package var cache: String {
    get throws(ConfigurationError) {
      try naming { () throws(SettingsError) in
        if let folder = configured.cacheFolder { try Self.checked(folder) } else { try paths.cacheFolder }
      }
    }
  }

  /// Where the settings and the user's policies are.
  ///
  /// - Throws: ``ConfigurationError`` where neither the configuration nor the environment names it.
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

  /// Where what the network has brought is counted.
  ///
  /// - Throws: ``ConfigurationError`` where neither the configuration nor the environment names it.
  package var usage: String { get throws(ConfigurationError) { "\(try state)/usage" } }

  /// Where the usage and the last bandwidth are kept.
  ///
  /// - Throws: ``ConfigurationError`` where neither the configuration nor the environment names it.
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
    // What is told of the folder must hold wherever it is read.
    guard !folder.hasPrefix("/"), let current = getcwd(nil, 0) else { return folder }
    defer { free(current) }
    let start = folder.hasPrefix("./") ? folder.dropFirst(2) : folder[...]
    return "\(String(cString: current))/\(start)"
  }
}
