import FeedimgSettings
import Glibc

/// The folders in which a loader keeps its files.
///
/// Each folder is derived on demand, so an unknown folder does not affect the others. Each throws
/// ``ConfigurationError`` if neither the configuration nor the environment names it.
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
  package var cache: String {
    get throws(ConfigurationError) {
      try folder(configured.cacheFolder) { () throws(SettingsError) in try paths.cacheFolder }
    }
  }

  /// The folder of the settings and the user's policies.
  package var configuration: String {
    get throws(ConfigurationError) {
      try folder(configured.configurationFolder) { () throws(SettingsError) in try paths.configFolder }
    }
  }

  /// The folder of the usage ledger.
  package var usage: String { get throws(ConfigurationError) { "\(try state)/usage" } }

  /// The folder of the ledger and the last bandwidth.
  package var state: String {
    get throws(ConfigurationError) {
      try folder(configured.stateFolder) { () throws(SettingsError) in try paths.stateFolder }
    }
  }

  private func folder(
    _ given: String?,
    else usual: () throws(SettingsError) -> String
  ) throws(ConfigurationError) -> String {
    guard let given else {
      do throws(SettingsError) {
        return try usual()
      } catch {
        throw ConfigurationError([error.message])
      }
    }
    guard !given.isEmpty else { throw ConfigurationError(["expected a folder, found an empty path"]) }
    // Make the path absolute, because programs with another working folder may read it.
    guard !given.hasPrefix("/"), let current = getcwd(nil, 0) else { return given }
    defer { free(current) }
    let start = given.hasPrefix("./") ? given.dropFirst(2) : given[...]
    return "\(String(cString: current))/\(start)"
  }
}
