import ArgumentParser
import Feedimg

/// `feedimg prefetch`: fills the cache with the images of a feed.
struct PrefetchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "prefetch",
    abstract: "Download the images of a feed into the cache in advance.",
    discussion: """
      Downloads for each item the image that the policy would load, a few at a time, up to a limit. On a metered or \
      possibly metered network, or with the setting `data-saver`, it downloads nothing. A policy with a column \
      `priority` overrides this: `now` and `soon` always download, `idle` never does.

      A terminal shows the bytes, the rate and the remaining time. You may interrupt the command: complete images \
      stay in the cache, and the next run continues there.

      EXAMPLES
        feedimg prefetch feed.json
        feedimg prefetch feed.jsonl --limit 200MB --image-limit 2MB
        feedimg prefetch - --json < feed.jsonl | jq 'select(.outcome == "failed")'

      An invalid item is skipped, with a warning that names its line.

      Ends with 1 if an image failed or an item is invalid, else with 0. Items over a limit, and images that could \
      not be stored, are not failures. An original that may succeed later counts as failed, although its thumbnail \
      is downloaded instead.
      """
  )

  @OptionGroup var input: ItemInput

  @Option("size", "The most to download in all (default: 64 MiB).") var limit: String?

  @Option("size", "Skip images that are larger than this (default: 8 MiB).") var imageLimit: String?

  @Flag(help: "Print one line of JSON for each item when it ends, and one for the total.")
  var json = false

  @OptionGroup var situation: SituationOptions
  @OptionGroup var service: ServiceOptions

  func run() async throws {
    var configuration = try situation.configuration()
    service.apply(to: &configuration)
    // This command does not show the images.
    configuration.keepsInMemory = false
    var limits = Prefetch.Limits()
    if let limit { limits.total = try Self.size(limit, "--limit") }
    if let imageLimit { limits.perImage = try Self.size(imageLimit, "--image-limit") }
    let (items, inputStatus) = try input.items()
    let loader = try ImageLoader(configuration)
    FinalCount.include(loader)
    Output.report(loader.warnings)
    var report = PrefetchReport(isJSON: json)
    let prefetch = loader.prefetch(items, limits: limits)
    let bar = !json && Output.hasTerminalError ? Task { await Self.draw(prefetch) } : nil
    for await outcome in prefetch.outcomes { report.add(outcome, item: items[outcome.index]) }
    bar?.cancel()
    report.end(await prefetch.finish())
    service.report(on: loader)
    // Some warnings arise only during loads, such as that the data usage cannot be saved.
    Output.report(loader.warnings)
    throw CommandError(inputStatus == .success ? report.status : inputStatus)
  }

  /// Draws the bar five times a second.
  private static func draw(_ prefetch: Prefetch) async {
    repeat {
      Output.progress(ProgressLine.text(prefetch.progress))
    } while (try? await Task.sleep(for: .milliseconds(200))) != nil
  }

  private static func size(_ text: String, _ option: String) throws(CommandError) -> ByteCount {
    guard let size = ByteCount(text) else {
      throw CommandError(.usage, "\(option) \(text): expected a size, such as `20MB` or `512 KiB`")
    }
    return size
  }
}

/// Prints the results of a prefetch: one JSON object per item, or one sentence at the end.
struct PrefetchReport {
  let isJSON: Bool
  private(set) var status = ExitStatus.success

  mutating func add(_ outcome: Prefetch.Outcome, item: FeedItem) {
    if isJSON { Output.line(outcome.json(of: item)) }
    let message: String
    switch outcome.result {
    case .fetched, .skipped: return
    case .unkept(let variant, _, let reason): message = "`\(variant.url)`: \(reason)"
    case .failed(let error): (message, status) = (error.description, .failure)
    }
    Output.report(message)
  }

  func end(_ progress: PrefetchProgress) {
    Output.line(isJSON ? progress.json : Self.sentence(progress))
  }

  private static func sentence(_ progress: PrefetchProgress) -> String {
    var parts = ["\(progress.fetched) fetched (\(progress.received.rounded))"]
    if progress.unkept > 0 { parts.append("\(progress.unkept) not stored") }
    if progress.cached > 0 { parts.append("\(progress.cached) already cached") }
    for reason in Prefetch.Reason.allCases {
      if let count = progress.skipped[reason] { parts.append("\(count) skipped: \(reason.text)") }
    }
    if progress.failed > 0 { parts.append("\(progress.failed) failed") }
    return "\(progress.count) \(progress.count == 1 ? "item" : "items"): " + parts.joined(separator: "; ")
  }
}
