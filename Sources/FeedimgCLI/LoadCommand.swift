import ArgumentParser
import Feedimg

/// `feedimg load`: loads the image that `resolve` chooses.
struct LoadCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "load",
    abstract: "Load the image that the policy chooses, from the cache or the network.",
    discussion: """
      Takes the image that `feedimg resolve` chooses from the cache, or downloads it and stores it there. Prints \
      the variant, its source, and its file in the cache, which any program can open. If the original fails, \
      feedimg loads the thumbnail instead and prints the reason.

      EXAMPLES
        feedimg load item.json
        feedimg load https://x.example/a.jpg --output photo.jpg
        feedimg load feed.jsonl --json | jq -r .path
        feedimg load --item item.json --network offline     use only the cache
        feedimg load --item item.json --trace               show where the time goes
        feedimg load --item item.json --reload              check with the server first
        feedimg load feed.jsonl --timeout 20                stop after 20 seconds
        feedimg load https://x.example/a.jpg --header 'Authorization: Bearer abc'

      An invalid item of a feed is skipped, with a warning that names its line. The URL of an image is an item \
      without a thumbnail.

      Ends with 1 if an item failed or was skipped, or else with 3 if an item has only its placeholder, or else \
      with 0.
      """
  )

  @OptionGroup var input: ItemInput
  @Flag(help: "Print one line of JSON for each item.") var json = false

  @Option(
    "file",
    "Also write the image of a single item to this file; - is standard output.",
    name: .shortAndLong,
    completion: .file()
  )
  var output: String?

  @Flag(help: "Write the image to standard output even if that is a terminal.") var force = false

  @Option("seconds", "Cancel loads that are not complete after this time.") var timeout: Double?

  @Option(
    "name: value",
    "Send this header field with each request, such as 'Referer: https://x.example/'; may be repeated."
  )
  var header: [String] = []

  @Flag(help: "Revalidate cached images before printing them, even fresh ones.")
  var reload = false

  @Flag(help: "Also print each step of the load of a single item with its time; does not use the service.")
  var trace = false

  @OptionGroup var situation: SituationOptions
  @OptionGroup var service: ServiceOptions

  /// The longest wait for revalidations at the end, whose results only the next load shows.
  private static let revalidationTimeout = Duration.seconds(10)

  func validate() throws {
    if let timeout, !(timeout > 0 && timeout < 1e9) {
      throw ValidationError("--timeout: expected a number of seconds above 0, found \(timeout)")
    }
  }

  /// The fields of `--header`, for the one origin of the items.
  private func headers(for items: [FeedItem]) throws(CommandError) -> [String: [String: String]] {
    guard !header.isEmpty else { return [:] }
    var fields: [String: String] = [:]
    for text in header {
      // The message does not repeat the text, which may be a secret.
      guard let colon = text.firstIndex(of: ":"), colon > text.startIndex else {
        throw CommandError(.usage, "--header: expected a name and a value, such as `Accept-Language: de`")
      }
      let name = String(text[..<colon])
      let value = String(text[text.index(after: colon)...].drop { $0 == " " || $0 == "\t" })
      if let fault = RequestOptions.fault(of: name, value) {
        throw CommandError(.usage, "--header: \(fault)")
      }
      fields[name] = value
    }
    let origins = Set(items.flatMap { [$0.original, $0.thumbnail] }.compactMap { $0?.url.origin }).sorted()
    guard let origin = origins.first else { return [:] }
    guard origins.count == 1 else {
      throw CommandError(
        .usage,
        "--header: expected images of one origin, but \(input.names) has images of \(origins.count), such as "
          + "`\(origin)` and `\(origins[1])`"
      )
    }
    return [origin: fields]
  }

  func run() async throws {
    var configuration = try situation.configuration()
    let file = output.map { OutputFile(path: $0) }
    try file?.refuseTerminal(unless: force)
    let (items, inputStatus) = try input.items()
    if items.count != 1, let option = file != nil ? "--output" : trace && items.count > 1 ? "--trace" : nil {
      throw CommandError(
        .usage,
        "\(option): expected one item, but \(input.names) has \(items.count) items"
      )
    }
    try file?.check()
    configuration.requests.headers = try headers(for: items)
    let trace = trace ? LoadTrace() : nil
    // A trace covers only loads in this process, so do not use the service.
    if let trace { configuration.observers = [trace] } else { service.apply(to: &configuration) }
    let loader = try ImageLoader(configuration)
    FinalCount.include(loader)
    Output.report(loader.warnings)
    var report = LoadReport(itemCount: items.count, isJSON: json, isQuiet: output == "-", trace: trace)
    if inputStatus != .success { report.noteFailure() }
    let deadline = timeout.map { ContinuousClock.now + .seconds($0) }
    let batch = LoadBatch(loader: loader, items: items, isReload: reload, timeout: timeout)
    await batch.run { event in
      switch event {
      case .ended(let outcome, let index): report.add(outcome, index: index)
      case .waiting(let host, let duration): report.showWaiting(for: host, since: duration)
      }
    }
    var fault: CommandError?
    if let file, case .success(let image)? = report.onlyOutcome {
      // Report the rest before ending with this error.
      do throws(CommandError) { try file.write(image.bytes) } catch { fault = error }
    }
    let limit = Self.revalidationTimeout
    let rest = deadline.map { max(.zero, min(limit, $0 - .now)) } ?? limit
    report.add(await loader.finishRevalidations(within: rest))
    report.showTrace()
    service.report(on: loader, isTraced: trace != nil)
    // Some warnings arise only during loads, such as that the data usage cannot be saved.
    Output.report(loader.warnings)
    throw fault ?? CommandError(report.status)
  }
}
