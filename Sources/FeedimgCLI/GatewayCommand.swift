import ArgumentParser
import Feedimg
import FeedimgAdmin

/// `feedimg gateway`: the addresses for clients that do not know feedimg.
struct GatewayCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "gateway",
    abstract: "Print the addresses to enter in clients that do not know feedimg.",
    discussion: """
      Mastodon clients and feed readers load their pictures through the gateway of `feedimg serve`. For each kind of \
      client, this command prints the setting, its value, and a command that checks it. The values contain the token \
      of the gateway, which other users must not see.

      EXAMPLES
        feedimg serve --port 8080 --gateway mastodon=https://mastodon.example
        feedimg gateway
        feedimg gateway --json | jq -r '.clients[] | select(.name == "feed readers") | .value'

      Ends with 1 if no gateway responds, else with 0.
      """
  )

  @Flag(help: "Print one JSON object.") var json = false

  @OptionGroup var folder: ConfigurationFolderOption

  func run() throws {
    let start = "start `feedimg serve --port 8080 --gateway pictures`"
    guard let gateway = GatewayStatus(folder.configuration) else {
      throw CommandError(.failure, "no service with a gateway is running; \(start)")
    }
    guard let address = gateway.address else {
      throw CommandError(.failure, "the service with the gateway listens on no port; \(start)")
    }
    let isReached = gateway.isReached
    if json {
      Output.line(gateway.json(isReached: isReached))
    } else if isReached {
      Output.line(Self.text(gateway))
    }
    if !isReached { throw CommandError(.failure, "the gateway at `\(address)` does not respond; \(start)") }
  }

  private static func text(_ gateway: GatewayStatus) -> String {
    let blocks = gateway.clients.map { client in
      "\(Output.bold(client.name))\n  \(client.setting)\n    \(client.value)\n  check\n    \(client.check)"
    }
    return blocks.joined(separator: "\n\n")
  }
}
