import ArgumentParser
import Feedimg

/// Whether the user's service may download images that are not cached.
struct ServiceOptions: ParsableArguments {
  @Flag(help: "Download in this program, even if `feedimg serve` is running.")
  var noService = false

  @Flag(name: .shortAndLong, help: "Print whether the service loaded the images, or why not.")
  var verbose = false

  /// Uses the running service, unless the user forbids it.
  func apply(to configuration: inout ImageLoader.Configuration) {
    if !noService { configuration.service = configuration.usualService }
  }

  /// Prints whether the service loaded the images; it did not if a trace was requested.
  func report(on loader: ImageLoader, isTraced: Bool = false) {
    guard verbose else { return }
    let reason = "not loaded by the service, since `--trace` covers only this program"
    let summary = isTraced && !noService ? reason : loader.serviceSummary
    if let summary { Output.report(summary) }
  }
}
