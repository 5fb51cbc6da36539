import ArgumentParser
import Feedimg

/// Where the cache is.
struct CacheFolderOption: ParsableArguments {
  @Option(
    name: .customLong("cache-dir"),
    parsing: .unconditional,
    help: ArgumentHelp("Where images are kept (default: $XDG_CACHE_HOME/feedimg).", valueName: "dir"),
    completion: .directory
  )
  var cacheFolder: String?
}

/// Where what is counted is kept.
struct StateFolderOption: ParsableArguments {
  @Option(
    name: .customLong("state-dir"),
    parsing: .unconditional,
    help: ArgumentHelp("Where usage is counted (default: $XDG_STATE_HOME/feedimg).", valueName: "dir"),
    completion: .directory
  )
  var stateFolder: String?
}

/// Where the settings are.
struct ConfigurationFolderOption: ParsableArguments {
  @Option(
    name: .customLong("config-dir"),
    parsing: .unconditional,
    help: ArgumentHelp("Where settings.json is (default: $XDG_CONFIG_HOME/feedimg).", valueName: "dir"),
    completion: .directory
  )
  var configurationFolder: String?

  /// The user's own, but for the folder if one is given.
  var configuration: ImageLoader.Configuration {
    var configuration = ImageLoader.Configuration()
    configuration.configurationFolder = configurationFolder
    return configuration
  }
}
