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
      """
  )

  @Flag(help: "Print one JSON object, with --watch one for each change, a line each.")
  var json = false

  @Flag(name: .shortAndLong, help: "Go on, and print each change.")
  var watch = false

  func run() async throws {
    let network = NetworkStatus()
    guard watch else { return Output.line(json ? network.state.json : NetworkText.whole(network.state)) }
    var previous: NetworkState?
    for await state in network.states() {
      Output.line(
        json ? state.json : NetworkText.change(from: previous, to: state, at: WallClock.timeOfDay())
      )
      previous = state
    }
  }
}
