import Feedimg
import Synchronization

/// Prints the results and the progress of loads, and determines the exit status.
struct LoadReport {
  let itemCount: Int
  let isJSON: Bool
  /// Whether the image itself goes to standard output.
  let isQuiet: Bool
  /// The recorder of the steps of the load, if they are to be printed.
  let trace: LoadTrace?
  private(set) var status = ExitStatus.success
  /// The outcome of the only item; nil if there are several.
  private(set) var onlyOutcome: LoadBatch.Outcome?
  private(set) var bytesMoved = 0

  mutating func add(_ outcome: LoadBatch.Outcome, index: Int) {
    if itemCount == 1 { onlyOutcome = outcome }
    switch outcome {
    case .success(let image):
      if image.source == .network { bytesMoved += image.bytes.count }
      show(isJSON ? trace.map { image.json(with: $0.timeline) } ?? image.json : text(image, index))
      for note in image.notes { Output.report("`\(image.variant.url)`: \(note)") }
    case .failure(let error):
      add(error, index)
    }
    showProgress(done: index + 1)
  }

  /// Records a failure from before the loads.
  mutating func noteFailure() { status = .failure }

  /// Prints the results of revalidations; they do not change the exit status.
  func add(_ news: RevalidationSummary) {
    for url in news.changed { Output.report("`\(url)`: a new version is now in the cache") }
    for error in news.failures { Output.report("shown from the cache, since revalidation failed: \(error)") }
    guard news.unfinished > 0 else { return }
    let images = news.unfinished == 1 ? "1 image" : "\(news.unfinished) images"
    Output.report("\(images) shown from the cache could not be revalidated in time")
  }

  private mutating func add(_ error: LoadError, _ index: Int) {
    let isPlaceholder = error.code == .nothingToShow
    if !isPlaceholder { status = .failure } else if status == .success { status = .nothingToShow }
    if isJSON {
      show(trace.map { error.json(with: $0.timeline) } ?? error.json)
    } else if isPlaceholder, let resolution = error.resolution {
      show(placeholderText(resolution, index))
    }
    if !isPlaceholder { Output.report(error.description) }
  }

  /// Prints the steps of the load; to standard error if the image goes to standard output.
  func showTrace() {
    guard let trace, !isJSON else { return }
    for line in LoadTrace.lines(trace.timeline) {
      if isQuiet { Output.errorLine(line) } else { Output.line(line) }
    }
  }

  /// Prints a text; if the image goes to standard output, JSON goes to standard error and other text is
  /// omitted.
  private func show(_ text: String) {
    if !isQuiet { Output.line(text) } else if isJSON { Output.errorLine(text) }
  }

  private func text(_ image: LoadedImage, _ index: Int) -> String {
    let place = image.source == .network ? "the network" : image.source == .disk ? "the cache" : "memory"
    let size = ByteCount(image.bytes.count).rounded
    var lines = [
      headline(image.resolution, index, "\(image.variant.role.rawValue), from \(place)"),
      ResolutionText.line("file", image.path ?? "not stored"),
      ResolutionText.line("size", "\(size), \(image.mediaType)"),
      ResolutionText.line("url", image.variant.url.description),
    ]
    if image.source != .network, let freshness = image.freshness {
      lines.append(ResolutionText.line("freshness", FreshnessText.line(freshness)))
    }
    return (lines + [ResolutionText.because(image.resolution)]).joined(separator: "\n")
  }

  private func placeholderText(_ resolution: Resolution, _ index: Int) -> String {
    let placeholder = ResolutionText.placeholder(resolution.item.placeholder)
    return
      ([headline(resolution, index, "placeholder")] + placeholder + [ResolutionText.because(resolution)])
      .joined(separator: "\n")
  }

  private func headline(_ resolution: Resolution, _ index: Int, _ what: String) -> String {
    ResolutionText.headline(itemCount > 1 ? index + 1 : nil, resolution, what)
  }

  // MARK: Progress, only on a terminal

  /// Shows the host of a load that takes long.
  func showWaiting(for host: String, since duration: Duration) {
    guard duration >= .seconds(1) else { return }
    Output.progress("Waiting for \(host), \(Int(clamping: duration.components.seconds)) s")
  }

  private func showProgress(done: Int) {
    guard itemCount > 1, done < itemCount else { return }
    Output.progress("\(done) of \(itemCount) images, \(ByteCount(bytesMoved).rounded) downloaded")
  }
}

/// Records the steps of one load, and draws them in chronological order.
final class LoadTrace: LoadObserving {
  /// The steps so far; several threads may add steps.
  private let events = Mutex<[LoadEvent]>([])

  func observe(_ event: LoadEvent) { events.withLock { $0.append(event) } }

  var timeline: LoadTimeline { LoadTimeline(events.withLock { $0 }) }

  /// One line for each step: its time, its name, a bar for the time until the next step, and details.
  static func lines(_ timeline: LoadTimeline) -> [String] {
    let whole = max(timeline.duration / .microseconds(1), 1)
    return timeline.entries.map { entry in
      let begin = entry.begin / .microseconds(1)
      let column = min(Int(begin / whole * Double(barWidth)), barWidth - 1)
      let length = Int(((entry.end - entry.begin) / .microseconds(1) / whole * Double(barWidth)).rounded())
      // A very short step is a thin line.
      let step = length == 0 ? "▏" : String(repeating: "█", count: min(length, barWidth - column))
      let bar = (String(repeating: " ", count: column) + step).padded(to: barWidth)
      let time = milliseconds(begin).padded(to: 10, leading: true)
      let text = "\(time) ms  \(entry.name.padded(to: 11))  \(Output.dim(bar))  \(entry.detail)"
      return String(text.reversed().drop { $0 == " " }.reversed())
    }
  }

  private static let barWidth = 24

  /// The time in milliseconds with one decimal.
  private static func milliseconds(_ microseconds: Double) -> String {
    let tenths = Int((microseconds / 100).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }
}
