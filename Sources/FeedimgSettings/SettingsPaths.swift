import FeedimgSystem

/// The folders of feedimg for one user (XDG Base Directory Specification 0.8).
package struct SettingsPaths: Sendable, Hashable {
  /// The name of feedimg's folder inside each XDG folder.
  private static let ownFolder = "feedimg"

  private let environment: [String: String]
  private let home: String?

  /// - Parameters:
  ///   - environment: The environment variables of the process.
  ///   - home: The home folder if `HOME` is missing, such as that of the account.
  package init(environment: [String: String], home: String? = nil) {
    self.environment = environment
    self.home = home
  }

  /// The folder of `settings.json`: `$XDG_CONFIG_HOME/feedimg`, by default `~/.config/feedimg`.
  package var configFolder: String {
    get throws(SettingsError) { try folder("XDG_CONFIG_HOME", below: ".config") }
  }

  /// The folder of the images: `$XDG_CACHE_HOME/feedimg`, by default `~/.cache/feedimg`.
  package var cacheFolder: String {
    get throws(SettingsError) { try folder("XDG_CACHE_HOME", below: ".cache") }
  }

  /// The folder of the usage counts: `$XDG_STATE_HOME/feedimg`, by default `~/.local/state/feedimg`.
  package var stateFolder: String {
    get throws(SettingsError) { try folder("XDG_STATE_HOME", below: ".local/state") }
  }

  private func folder(_ variable: String, below folder: String) throws(SettingsError) -> String {
    if let base = absolute(environment[variable]) {
      return FilePath(folder: base, name: Self.ownFolder).text
    }
    guard let home = absolute(environment["HOME"]) ?? absolute(home) else {
      throw SettingsError(.noFolder, "neither `\(variable)` nor `HOME` is set to an absolute path")
    }
    return FilePath(folder: home, name: "\(folder)/\(Self.ownFolder)").text
  }

  /// Nil for a relative path, which the specification requires to ignore.
  private func absolute(_ path: String?) -> String? {
    path.flatMap { $0.hasPrefix("/") ? $0 : nil }
  }
}
