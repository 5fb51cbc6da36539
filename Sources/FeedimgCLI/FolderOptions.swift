import ArgumentParser
import Feedimg

/// A folder that an option can replace.
enum FolderOption: String {
  case cache
  case configuration = "config"
  case state

  /// The folder's content and its default, for the help.
  var help: String {
    switch self {
    case .cache: "The folder of the cache (default: $XDG_CACHE_HOME/feedimg)."
    case .configuration: "The folder of settings.json (default: $XDG_CONFIG_HOME/feedimg)."
    case .state: "The folder of the data usage (default: $XDG_STATE_HOME/feedimg)."
    }
  }
}

extension Option where Value == String? {
  /// The option `--cache-dir`, `--config-dir` or `--state-dir`.
  init(_ folder: FolderOption) {
    self.init("dir", folder.help, name: .customLong("\(folder.rawValue)-dir"), completion: .directory)
  }
}

// Option groups are not nested: the parser looks up five conformances for each group, which takes 0.1 ms at each start.

/// The folder of the settings.
struct ConfigurationFolderOption: ParsableArguments {
  @Option(.configuration) var configurationFolder: String?

  /// The default configuration with the given folder.
  var configuration: ImageLoader.Configuration {
    ImageLoader.Configuration(configurationFolder: configurationFolder)
  }
}

/// The folders of the cache and of the settings that limit it.
struct CacheFolders: ParsableArguments {
  @Option(.cache) var cacheFolder: String?
  @Option(.configuration) var configurationFolder: String?

  /// The default configuration with the given folders.
  var configuration: ImageLoader.Configuration {
    ImageLoader.Configuration(cacheFolder: cacheFolder, configurationFolder: configurationFolder)
  }
}

extension ImageLoader.Configuration {
  /// The default configuration with the given folders.
  init(cacheFolder: String? = nil, configurationFolder: String?) {
    self.init()
    self.cacheFolder = cacheFolder
    self.configurationFolder = configurationFolder
  }
}
