import FeedimgSettings
import Glibc

/// Where a loader keeps its files.
struct Folders {
  let cache: String
  let configuration: String

  /// - Throws: ``ConfigurationError`` where neither the configuration nor the environment names a folder.
  init(_ configuration: ImageLoader.Configuration) throws(ConfigurationError) {
    let home = configuration.environment["HOME"] == nil ? ProcessEnvironment.accountHome() : nil
    let paths = SettingsPaths(environment: configuration.environment, home: home)
    do throws(SettingsError) {
      let given = (configuration.cacheFolder, configuration.configurationFolder)
      cache = if let folder = given.0 { try Self.checked(folder) } else { try paths.cacheFolder }
      self.configuration =
        if let folder = given.1 { try Self.checked(folder) } else { try paths.configFolder }
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
