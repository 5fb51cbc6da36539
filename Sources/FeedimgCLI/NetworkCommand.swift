import ArgumentParser
import Feedimg
import Glibc
import Synchronization

/// `feedimg network`: what the active path is.
struct NetworkCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "network",
    abstract: "Tell the class of the active network, whether it is metered, and why.",
    discussion: """
      Asks the kernel which route leads to the internet and follows it down to the hardware, through VPNs, \
      bridges and bonds. No daemon is needed and no packet is sent.

      Kinds: wifi, ethernet, cellular, other (connected, but the kind cannot be told), offline.

      EXAMPLES
        feedimg network
        feedimg network --json | jq -r .kind
        feedimg network --watch          a line for each change, until stopped
        feedimg network mark metered     the data of the network of now costs
        feedimg network mark forget --ssid Home
      """,
    subcommands: [NetworkMarkCommand.self, NetworkMarksCommand.self]
  )

  @OptionGroup var format: NetworkFormat

  @OptionGroup var watching: NetworkWatchFlag

  @OptionGroup var folder: ConfigurationFolderOption

  func run() throws {
    let network = NetworkStatus(folder.configuration)
    guard !watching.watch else { return try watch(network) }
    let state = network.state
    for warning in network.warnings { Output.complain(warning) }
    Output.line(format.json ? state.json : NetworkText.whole(state))
  }

  /// Prints from the thread that watches, until a signal ends the program.
  private func watch(_ network: NetworkStatus) throws {
    let previous = Mutex<NetworkState?>(nil)
    let isJSON = format.json
    let watching = network.watch { state in
      for warning in network.warnings { Output.complain(warning) }
      let change = previous.withLock { previous in
        defer { previous = state }
        return NetworkChange(from: previous, to: state)
      }
      Output.line(
        isJSON
          ? change.json(at: WallClock.timestamp()) : NetworkText.change(change, at: WallClock.timeOfDay())
      )
    }
    guard let watching else {
      throw CommandFailure(.failure, "cannot go on watching, as this system grants no thread")
    }
    withExtendedLifetime(watching) { while true { pause() } }
  }
}

/// Whether to go on; the verbs know it only to refuse it.
struct NetworkWatchFlag: ParsableArguments {
  @Flag(name: .shortAndLong, help: "Go on, and print each change.")
  var watch = false

  /// - Throws: ``CommandFailure`` with status 2 where the flag stands with a verb.
  func refuse(with verb: String) throws(CommandFailure) {
    if watch { throw CommandFailure(.usage, "`--watch` does not go with `\(verb)`") }
  }
}

/// How the commands about networks print; a group, so that it may stand before and after their verbs.
struct NetworkFormat: ParsableArguments {
  @Flag(help: "Print one JSON object, or with several answers one for each, a line each.")
  var json = false
}
