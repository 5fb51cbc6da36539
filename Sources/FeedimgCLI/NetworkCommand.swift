import ArgumentParser
import Feedimg
import Glibc
import Synchronization

/// `feedimg network`: the active network.
struct NetworkCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "network",
    abstract: "Print the kind of the active network, whether it is metered, and why.",
    discussion: """
      Reads the route to the internet from the kernel, and follows it through VPNs, bridges and bonds to the \
      hardware. It needs no daemon and sends no packet.

      Kinds: wifi, ethernet, cellular, other (connected, kind unknown), offline.

      EXAMPLES
        feedimg network
        feedimg network --json | jq -r .kind
        feedimg network --watch          print each change until interrupted
        feedimg network mark metered     treat the active network as metered
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
    Output.report(network.warnings)
    Output.line(format.json ? state.json : NetworkText.whole(state))
  }

  /// Prints each change until a signal ends the program.
  private func watch(_ network: NetworkStatus) throws {
    let previous = Mutex<NetworkState?>(nil)
    let isJSON = format.json
    let watching = network.watch { state in
      Output.report(network.warnings)
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
      throw CommandFailure(.failure, "cannot watch the network: no thread is available")
    }
    withExtendedLifetime(watching) { while true { pause() } }
  }
}

/// Whether to watch; subcommands accept the flag only to reject it with a clear message.
struct NetworkWatchFlag: ParsableArguments {
  @Flag(name: .shortAndLong, help: "Print each change until interrupted.")
  var watch = false

  /// - Throws: ``CommandFailure`` with status 2 if the flag is used with a subcommand.
  func refuse(with verb: String) throws(CommandFailure) {
    if watch { throw CommandFailure(.usage, "`--watch` cannot be used with `\(verb)`") }
  }
}

/// The format of output; an option group, so that the flag may precede or follow a subcommand.
struct NetworkFormat: ParsableArguments {
  @Flag(help: "Print one line of JSON for each result.")
  var json = false
}
