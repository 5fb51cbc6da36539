import ArgumentParser
import Feedimg

/// `feedimg network mark`: the user's own word on what data costs.
struct NetworkMarkCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mark",
    abstract: "Mark a network as metered or not, or forget its mark.",
    discussion: """
      A mark goes before all that devices and services say. It is kept in settings.json, by the name of the \
      Wi-Fi network, or else by the device that carries the data. A program that runs sees it at once.

      EXAMPLES
        feedimg network mark metered                      the network that is active now
        feedimg network mark unmetered --ssid Home
        feedimg network mark forget --device usb0
      """
  )

  /// What can be said of a network.
  enum Word: String, CaseIterable, ExpressibleByArgument {
    case metered
    case unmetered
    case forget
  }

  @Argument(help: "metered, unmetered, or forget.") var word: Word

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("The Wi-Fi network of this name, active or not.", valueName: "name")
  )
  var ssid: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Whatever this interface carries, active or not.", valueName: "name")
  )
  var device: String?

  @OptionGroup(visibility: .hidden) var format: NetworkFormat
  @OptionGroup(visibility: .hidden) var watching: NetworkWatchFlag
  @OptionGroup var folder: ConfigurationFolderOption

  func run() throws {
    try watching.refuse(with: "mark")
    if format.json { throw CommandFailure(.usage, "`--json` does not go with `mark`, which prints no data") }
    let network = try network()
    let marks = try NetworkMarks(folder.configuration)
    switch word {
    case .metered: try marks.mark(network, asMetered: true)
    case .unmetered: try marks.mark(network, asMetered: false)
    case .forget:
      guard try marks.forget(network) else {
        throw CommandFailure(.failure, "`\(network.text)` is not marked")
      }
    }
    for warning in marks.warnings { Output.complain(warning) }
    Output.line(word == .forget ? "\(network.text) is forgotten" : "\(network.text) is \(word.rawValue)")
  }

  private func network() throws(CommandFailure) -> NetworkName {
    switch (ssid, device) {
    case (_?, _?): throw CommandFailure(.usage, "expected `--ssid` or `--device`, found both")
    case (""?, nil), (nil, ""?): throw CommandFailure(.usage, "expected the name of a network, found nothing")
    case (let name?, nil): return .ssid(name)
    case (nil, let name?): return .device(name)
    case (nil, nil):
      guard let network = NetworkMarks.activeNetwork() else {
        throw CommandFailure(.failure, "no network is active; name one with `--ssid` or `--device`")
      }
      return network
    }
  }
}

/// `feedimg network marks`.
struct NetworkMarksCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "marks",
    abstract: "Print the networks that are marked."
  )

  @OptionGroup var format: NetworkFormat
  @OptionGroup(visibility: .hidden) var watching: NetworkWatchFlag
  @OptionGroup var folder: ConfigurationFolderOption

  func run() throws {
    try watching.refuse(with: "marks")
    let marks = try NetworkMarks(folder.configuration)
    for mark in marks.all() { Output.line(format.json ? mark.json : NetworkText.mark(mark)) }
    for warning in marks.warnings { Output.complain(warning) }
  }
}
