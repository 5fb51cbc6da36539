import ArgumentParser
import Feedimg

/// The folder of the settings.
struct ConfigurationFolderOption: ParsableArguments {
  @Option(
    "dir",
    "The folder of settings.json (default: $XDG_CONFIG_HOME/feedimg).",
    name: .customLong("config-dir"),
    completion: .directory
  )
  var configurationFolder: String?

  /// The default configuration with the given folder.
  var configuration: ImageLoader.Configuration {
    var configuration = ImageLoader.Configuration()
    configuration.configurationFolder = configurationFolder
    return configuration
  }
}

/// The folders of the cache and of the settings that limit it.
struct CacheFolders: ParsableArguments {
  @Option(
    "dir",
    "The folder of the cache (default: $XDG_CACHE_HOME/feedimg).",
    name: .customLong("cache-dir"),
    completion: .directory
  )
  var cacheFolder: String?

  @OptionGroup var settings: ConfigurationFolderOption

  /// The default configuration with the given folders.
  var configuration: ImageLoader.Configuration {
    var configuration = settings.configuration
    configuration.cacheFolder = cacheFolder
    return configuration
  }
}

/// The folder of the data usage.
struct StateFolderOption: ParsableArguments {
  @Option(
    "dir",
    "The folder of the data usage (default: $XDG_STATE_HOME/feedimg).",
    name: .customLong("state-dir"),
    completion: .directory
  )
  var stateFolder: String?
}
