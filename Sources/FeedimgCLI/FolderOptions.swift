import ArgumentParser
import Feedimg

/// The folder of the cache.
struct CacheFolderOption: ParsableArguments {
  @Option(
    name: .customLong("cache-dir"),
    parsing: .unconditional,
    help: ArgumentHelp("The folder of the cache (default: $XDG_CACHE_HOME/feedimg).", valueName: "dir"),
    completion: .directory
  )
  var cacheFolder: String?
}

/// The folder of the data usage.
struct StateFolderOption: ParsableArguments {
  @Option(
    name: .customLong("state-dir"),
    parsing: .unconditional,
    help: ArgumentHelp("The folder of the data usage (default: $XDG_STATE_HOME/feedimg).", valueName: "dir"),
    completion: .directory
  )
  var stateFolder: String?
}

/// The folder of the settings.
struct ConfigurationFolderOption: ParsableArguments {
  @Option(
    name: .customLong("config-dir"),
    parsing: .unconditional,
    help: ArgumentHelp("The folder of settings.json (default: $XDG_CONFIG_HOME/feedimg).", valueName: "dir"),
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
