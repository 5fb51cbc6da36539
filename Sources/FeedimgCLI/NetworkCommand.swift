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
      throw CommandError(.failure, "cannot watch the network: no thread is available")
    }
    withExtendedLifetime(watching) { while true { pause() } }
  }
}

/// Whether to watch; subcommands accept the flag only to reject it with a clear message.
struct NetworkWatchFlag: ParsableArguments {
  @Flag(name: .shortAndLong, help: "Print each change until interrupted.")
  var watch = false

  /// - Throws: ``CommandError`` with status 2 if the flag is used with a subcommand.
  func refuse(with verb: String) throws(CommandError) {
    if watch { throw CommandError(.usage, "`--watch` cannot be used with `\(verb)`") }
  }
}

/// The format of output; an option group, so that the flag may precede or follow a subcommand.
struct NetworkFormat: ParsableArguments {
  @Flag(help: "Print one line of JSON for each result.")
  var json = false
}

/// `feedimg network mark`: marks a network as metered or unmetered.
struct NetworkMarkCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mark",
    abstract: "Mark a network as metered or unmetered, or remove its mark.",
    discussion: """
      A mark overrides the information from devices and services. It is stored in settings.json, under the name of \
      the Wi-Fi network or else of the device. Running programs notice it at once.

      EXAMPLES
        feedimg network mark metered                      mark the active network
        feedimg network mark unmetered --ssid Home
        feedimg network mark forget --device usb0
      """
  )

  /// The mark to set, or `forget` to remove it.
  enum Word: String, CaseIterable, ExpressibleByArgument {
    case metered
    case unmetered
    case forget
  }

  @Argument(help: "metered, unmetered, or forget.") var word: Word

  @Option("name", "The Wi-Fi network with this name, active or not.") var ssid: String?

  @Option("name", "The network interface with this name, active or not.") var device: String?

  @OptionGroup(visibility: .hidden) var format: NetworkFormat
  @OptionGroup(visibility: .hidden) var watching: NetworkWatchFlag
  @OptionGroup var folder: ConfigurationFolderOption

  func run() throws {
    try watching.refuse(with: "mark")
    if format.json { throw CommandError(.usage, "`--json` cannot be used with `mark`") }
    let network = try network()
    let marks = try NetworkMarks(folder.configuration)
    switch word {
    case .metered: try marks.mark(network, asMetered: true)
    case .unmetered: try marks.mark(network, asMetered: false)
    case .forget:
      guard try marks.forget(network) else {
        throw CommandError(.failure, "`\(network.text)` is not marked")
      }
    }
    Output.report(marks.warnings)
    Output.line(word == .forget ? "\(network.text): mark removed" : "\(network.text): \(word.rawValue)")
  }

  private func network() throws(CommandError) -> NetworkName {
    switch (ssid, device) {
    case (_?, _?): throw CommandError(.usage, "expected either `--ssid` or `--device`, found both")
    case (""?, nil), (nil, ""?): throw CommandError(.usage, "expected the name of a network, found nothing")
    case (let name?, nil): return .ssid(name)
    case (nil, let name?): return .device(name)
    case (nil, nil):
      guard let network = NetworkMarks.activeNetwork() else {
        throw CommandError(.failure, "no network is active; name one with `--ssid` or `--device`")
      }
      return network
    }
  }
}

/// `feedimg network marks`.
struct NetworkMarksCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "marks",
    abstract: "Print the marked networks."
  )

  @OptionGroup var format: NetworkFormat
  @OptionGroup(visibility: .hidden) var watching: NetworkWatchFlag
  @OptionGroup var folder: ConfigurationFolderOption

  func run() throws {
    try watching.refuse(with: "marks")
    let marks = try NetworkMarks(folder.configuration)
    for mark in marks.all() { Output.line(format.json ? mark.json : NetworkText.mark(mark)) }
    Output.report(marks.warnings)
  }
}

/// The state of the network as text.
enum NetworkText {
  static func whole(_ state: NetworkState) -> String {
    var lines = [Output.bold(headline(state))]
    if !state.via.isEmpty { lines.append(ResolutionText.line("through", state.via.joined(separator: " → "))) }
    if let route = state.route { lines.append(ResolutionText.line("route", route)) }
    lines.append(ResolutionText.line("because", state.reason))
    lines.append(ResolutionText.line("metered", "\(state.metered.rawValue): \(state.meteredReason)"))
    return lines.joined(separator: "\n")
  }

  /// One line such as `14:03:10  wifi → cellular  wwan0  metered  the device type is wwan`.
  ///
  /// The columns have fixed widths, so that consecutive lines align.
  static func change(_ change: NetworkChange, at time: String) -> String {
    let state = change.state
    let isSameKind = change.previous.map { $0.kind == state.kind } ?? true
    let step = isSameKind ? "" : change.previous.map { "\($0.kind.rawValue) → " } ?? ""
    return [
      time, (step + state.kind.rawValue).padded(to: 19), (state.device ?? "-").padded(to: 9),
      (state.kind == .offline ? "-" : cost(of: state)).padded(to: 11), change.why,
    ].joined(separator: "  ")
  }

  static func mark(_ mark: NetworkMark) -> String {
    mark.metered.word.padded(to: 11) + mark.network.text
  }

  private static func cost(of state: NetworkState) -> String {
    switch state.metered {
    case .yes: "metered"
    case .no: "not metered"
    case .unknown: "unknown"
    }
  }

  private static func headline(_ state: NetworkState) -> String {
    let metered = state.metered == .unknown ? "metering unknown" : cost(of: state)
    let traits = [
      (state.isTethered, "tethered phone"), (state.isTunnelled, "through a VPN"),
      (state.isVirtual, "virtual"),
      (state.isRoaming, "roaming"), (state.isCaptive, "behind a login page"),
    ].filter(\.0).map(\.1)
    return ([state.kind.rawValue] + (state.kind == .offline ? [] : [metered]) + traits).joined(
      separator: ", "
    )
  }
}
