import ArgumentParser
import Feedimg

/// Whether the user's service loads what is not cached.
struct ServiceOptions: ParsableArguments {
  @Flag(help: "Load by this program alone, also where `feedimg serve` runs and could share the download.")
  var noService = false

  @Flag(name: .shortAndLong, help: "Say what the service did, or why it did nothing.")
  var verbose = false

  /// Takes the service that runs, unless it is not wanted.
  func apply(to configuration: inout ImageLoader.Configuration) {
    if !noService { configuration.service = configuration.usualService }
  }

  /// Says what came of it.
  func tell(of loader: ImageLoader) {
    if verbose, let account = loader.serviceAccount { Output.complain(account) }
  }
}
