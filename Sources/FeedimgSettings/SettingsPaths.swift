/// The folders of the user's files (XDG Base Directory Specification 0.8).
package struct SettingsPaths: Sendable, Hashable {
  /// The folder of this program inside each of the user's.
  private static let ownFolder = "feedimg"

  private let environment: [String: String]
  private let home: String?

  /// - Parameters:
  ///   - environment: The variables of the process; nothing else is read.
  ///   - home: The value where `HOME` is missing, such as the home of the account.
  package init(environment: [String: String], home: String? = nil) {
    self.environment = environment
    self.home = home
  }

  /// The folder of `settings.json`: `$XDG_CONFIG_HOME/feedimg`, else `~/.config/feedimg`.
  package var configFolder: String {
    get throws(SettingsError) { try folder("XDG_CONFIG_HOME", below: ".config") }
  }

  /// The folder of the images: `$XDG_CACHE_HOME/feedimg`, else `~/.cache/feedimg`.
  package var cacheFolder: String {
    get throws(SettingsError) { try folder("XDG_CACHE_HOME", below: ".cache") }
  }

  /// The folder of the usage: `$XDG_STATE_HOME/feedimg`, else `~/.local/state/feedimg`.
  package var stateFolder: String {
    get throws(SettingsError) { try folder("XDG_STATE_HOME", below: ".local/state") }
  }

  private func folder(_ variable: String, below folder: String) throws(SettingsError) -> String {
    if let base = absolute(environment[variable]) { return join(base, Self.ownFolder) }
    guard let home = absolute(environment["HOME"]) ?? absolute(home) else {
      throw SettingsError(.noFolder, "neither `\(variable)` nor `HOME` names an absolute folder")
    }
    return join(join(home, folder), Self.ownFolder)
  }

  /// The specification has relative values ignored.
  private func absolute(_ path: String?) -> String? {
    path.flatMap { $0.hasPrefix("/") ? $0 : nil }
  }

  private func join(_ folder: String, _ name: String) -> String {
    folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
  }
}
