import ArgumentParser
import Feedimg

/// `feedimg load`: does what `resolve` says.
struct LoadCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "load",
    abstract: "Load the image of an item that the policy chooses, from the cache or the network.",
    discussion: """
      Does what `feedimg resolve` says: takes the image from the cache, or fetches it and keeps it there. Prints \
      what was loaded, from where, and the file in the cache, which any program can open. If the original cannot \
      be had, the thumbnail takes its place, and it is said why.

      EXAMPLES
        feedimg load item.json
        feedimg load https://x.example/a.jpg --output photo.jpg
        feedimg load feed.jsonl --json | jq -r .path
        feedimg load --item item.json --network offline     from the cache alone
        feedimg load --item item.json --trace               where the time goes
        feedimg load --item item.json --reload              only what its server has now
        feedimg load feed.jsonl --timeout 20                give up after 20 seconds

      An entry of a feed that is not an item is left out, with a warning that names its line. The URL of an image is \
      an item without thumbnail.

      Of several items the worst counts: 1 if one failed or was left out, else 3 if one has only its placeholder, \
      else 0.
      """
  )

  @OptionGroup var input: ItemInput
  @Flag(help: "Print one JSON object for each item, a line each.") var json = false

  @Option(
    name: .shortAndLong,
    parsing: .unconditional,
    help: ArgumentHelp(
      "Also write the image here, for a single item; - is standard output.",
      valueName: "file"
    ),
    completion: .file()
  )
  var output: String?

  @Flag(help: "Write the image to standard output even if that is a terminal.") var force = false

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Give up what is not loaded after so many seconds.", valueName: "seconds")
  )
  var timeout: Double?

  @Flag(help: "Ask the server about what is cached before it is printed, also if it is fresh.")
  var reload = false

  @Flag(help: "Also print every step of the load with its time, for a single item; no service is asked.")
  var trace = false

  @OptionGroup var situation: SituationOptions
  @OptionGroup var service: ServiceOptions

  /// Nobody waits longer for what is only there for the next time.
  private static let patience = Duration.seconds(10)

  func validate() throws {
    if let timeout, !(timeout > 0 && timeout < 1e9) {
      throw ValidationError("--timeout: expected a number of seconds above 0, found \(timeout)")
    }
  }

  func run() async throws {
    var configuration = try situation.configuration()
    let file = output.map { OutputFile(path: $0) }
    try file?.refuseTerminal(unless: force)
    let (items, inputStatus) = try input.items()
    if file != nil, items.count != 1 {
      throw CommandFailure(.usage, "--output names one file, but \(input.names) holds \(items.count) items")
    }
    if trace, items.count > 1 {
      throw CommandFailure(
        .usage,
        "--trace tells of one load, but \(input.names) holds \(items.count) items"
      )
    }
    try file?.check()
    let trace = trace ? LoadTrace() : nil
    // What is to be traced happens here.
    if let trace { configuration.observers = [trace] } else { service.apply(to: &configuration) }
    let loader = try ImageLoader(configuration)
    FinalCount.include(loader)
    for warning in loader.warnings { Output.complain(warning) }
    var report = LoadReport(itemCount: items.count, isJSON: json, isQuiet: output == "-")
    report.trace = trace
    if inputStatus != .success { report.noteFailure() }
    let deadline = timeout.map { ContinuousClock.now + .seconds($0) }
    let batch = LoadBatch(loader: loader, items: items, isReload: reload, timeout: timeout)
    await batch.run { event in
      switch event {
      case .ended(let outcome, let index): report.add(outcome, index: index)
      case .waiting(let host, let duration): report.showWaiting(for: host, since: duration)
      }
    }
    var fault: CommandFailure?
    if let file, case .success(let image)? = report.onlyOutcome {
      // What is left to be told is told all the same.
      do throws(CommandFailure) { try file.write(image.bytes) } catch { fault = error }
    }
    let rest = deadline.map { max(.zero, min(Self.patience, $0 - .now)) } ?? Self.patience
    report.add(await loader.finishRevalidations(within: rest))
    report.showTrace()
    service.tell(of: loader, isTraced: trace != nil)
    // Such as that nothing could be counted, which shows only now.
    for warning in loader.warnings { Output.complain(warning) }
    throw fault ?? CommandFailure(report.status)
  }
}
