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
        feedimg load --item item.json
        feedimg load --item item.json --output photo.jpg
        feedimg load --item feed.jsonl --json | jq -r .path
        feedimg load --item item.json --network offline     from the cache alone
        feedimg load --item item.json --trace               where the time goes
        feedimg load --item item.json --reload              only what its server has now

      Of several items the worst counts: 1 if one failed, else 3 if one has only its placeholder, else 0.
      """
  )

  @OptionGroup var input: ItemOption

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "Also write the image here, for a single item; - is standard output.",
      valueName: "file"
    ),
    completion: .file()
  )
  var output: String?

  @Flag(help: "Ask the server about what is cached before it is printed, also if it is fresh.")
  var reload = false

  @Flag(help: "Also print every step of the load with its time, for a single item; no service is asked.")
  var trace = false

  @OptionGroup var situation: SituationOptions
  @OptionGroup var service: ServiceOptions

  /// Nobody waits longer for what is only there for the next time.
  private static let patience = Duration.seconds(10)

  func run() async throws {
    var configuration = try situation.configuration()
    let items = try input.items()
    let file = output.map { OutputFile(path: $0) }
    if file != nil, items.count > 1 {
      throw CommandFailure(.usage, "--output names one file, but `\(input.item)` holds \(items.count) items")
    }
    if trace, items.count > 1 {
      throw CommandFailure(
        .usage,
        "--trace tells of one load, but `\(input.item)` holds \(items.count) items"
      )
    }
    try file?.check()
    let trace = trace ? LoadTrace() : nil
    // What is to be traced happens here.
    if let trace { configuration.observers = [trace] } else { service.apply(to: &configuration) }
    let loader = try ImageLoader(configuration)
    FinalCount.include(loader)
    for warning in loader.warnings { Output.complain(warning) }
    var report = LoadReport(itemCount: items.count, isJSON: input.json, isQuiet: output == "-")
    report.trace = trace
    await LoadBatch(loader: loader, items: items, isReload: reload).run { report.add($0, index: $1) }
    var fault: CommandFailure?
    if let file, case .success(let image)? = report.onlyOutcome {
      // What is left to be told is told all the same.
      do throws(CommandFailure) { try file.write(image.bytes) } catch { fault = error }
    }
    report.add(await loader.finishRevalidations(within: Self.patience))
    report.showTrace()
    service.tell(of: loader, isTraced: trace != nil)
    // Such as that nothing could be counted, which shows only now.
    for warning in loader.warnings { Output.complain(warning) }
    throw fault ?? CommandFailure(report.status)
  }
}
