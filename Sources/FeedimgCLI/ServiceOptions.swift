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
  ///
  /// - Parameters:
  ///   - loader: What has loaded.
  ///   - isTraced: Whether it was not asked, so that there is something to trace.
  func tell(of loader: ImageLoader, isTraced: Bool = false) {
    guard verbose else { return }
    let reason = "not loaded by the service: `--trace` tells what this program does"
    let account = isTraced && !noService ? reason : loader.serviceAccount
    if let account { Output.complain(account) }
  }
}
