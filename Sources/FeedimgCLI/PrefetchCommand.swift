import ArgumentParser
import Feedimg

/// `feedimg prefetch`: fetches into the cache what will be looked at later.
struct PrefetchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "prefetch",
    abstract: "Fetch the images of a feed into the cache, before anybody looks at them.",
    discussion: """
      Fetches for each item what the policy would load, a few at a time, and stops at a limit. Where data costs, or \
      may, or the setting `data-saver` is on, nothing is fetched unless the policy says so: a table with a column \
      `priority` says by `now` and `soon` that a load is worth it at any time, and by `idle` that it is not.

      A terminal shows a bar with the bytes, the rate and the time that is left. Interrupting it loses nothing: \
      images that are complete are kept, and it goes on there next time.

      EXAMPLES
        feedimg prefetch feed.json
        feedimg prefetch feed.jsonl --limit 200MB --image-limit 2MB
        feedimg prefetch - --json < feed.jsonl | jq 'select(.outcome == "failed")'

      An entry that is not an item is left out, with a warning that names its line.

      Ends with 1 if an image could not be had or an entry is not an item, else with 0, also where items were left out, or images came and \
      could not be kept, which is told. An original that may be had another time counts as failed, although its \
      thumbnail is fetched in its place.
      """
  )

  @OptionGroup var input: ItemInput

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Spend so much at most, over all images (default: 64 MiB).", valueName: "size")
  )
  var limit: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Leave out images that are larger than this (default: 8 MiB).", valueName: "size")
  )
  var imageLimit: String?

  @Flag(help: "Print one JSON object for each item as it ends, a line each, and one for all in the end.")
  var json = false

  @OptionGroup var situation: SituationOptions
  @OptionGroup var service: ServiceOptions

  func run() async throws {
    var configuration = try situation.configuration()
    service.apply(to: &configuration)
    // Nobody looks at the images here.
    configuration.keepsInMemory = false
    var limits = Prefetch.Limits()
    if let limit { limits.total = try Self.size(limit, "--limit") }
    if let imageLimit { limits.perImage = try Self.size(imageLimit, "--image-limit") }
    let (items, inputStatus) = try input.items()
    let loader = try ImageLoader(configuration)
    FinalCount.include(loader)
    for warning in loader.warnings { Output.complain(warning) }
    var report = PrefetchReport(isJSON: json)
    let prefetch = loader.prefetch(items, limits: limits)
    let bar = report.showsBar ? Task { await Self.draw(prefetch) } : nil
    for await outcome in prefetch.outcomes { report.add(outcome, item: items[outcome.index]) }
    bar?.cancel()
    report.end(await prefetch.finish())
    service.tell(of: loader)
    // Such as that nothing could be counted, which shows only now.
    for warning in loader.warnings { Output.complain(warning) }
    throw CommandFailure(inputStatus == .success ? report.status : inputStatus)
  }

  /// Draws the bar a few times a second, also while nothing ends.
  private static func draw(_ prefetch: Prefetch) async {
    repeat {
      ProgressBar.draw(prefetch.progress)
    } while (try? await Task.sleep(for: .milliseconds(200))) != nil
  }

  private static func size(_ text: String, _ option: String) throws(CommandFailure) -> ByteCount {
    guard let size = ByteCount(text) else {
      throw CommandFailure(.usage, "\(option) \(text): expected a size, such as `20MB` or `512 KiB`")
    }
    return size
  }
}
