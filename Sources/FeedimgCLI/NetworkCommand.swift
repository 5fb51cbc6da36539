import ArgumentParser
import Feedimg

/// `feedimg network`: what the active path is.
struct NetworkCommand: AsyncParsableCommand {
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

  @Flag(name: .shortAndLong, help: "Go on, and print each change.")
  var watch = false

  @OptionGroup var folder: ConfigurationFolderOption

  func run() async throws {
    let network = NetworkStatus(folder.configuration)
    guard watch else {
      let state = network.state
      for warning in network.warnings { Output.complain(warning) }
      return Output.line(format.json ? state.json : NetworkText.whole(state))
    }
    var previous: NetworkState?
    for await state in network.states() {
      for warning in network.warnings { Output.complain(warning) }
      let change = NetworkChange(from: previous, to: state)
      Output.line(
        format.json
          ? change.json(at: WallClock.timestamp()) : NetworkText.change(change, at: WallClock.timeOfDay())
      )
      previous = state
    }
  }
}

/// How the commands about networks print; a group, so that it may stand before and after their verbs.
struct NetworkFormat: ParsableArguments {
  @Flag(help: "Print one JSON object, or with several answers one for each, a line each.")
  var json = false
}
