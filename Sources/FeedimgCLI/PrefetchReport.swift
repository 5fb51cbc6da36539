import Feedimg

/// Prints the results of a prefetch: one JSON object per item, or one sentence at the end.
struct PrefetchReport {
  let isJSON: Bool
  private(set) var status = ExitStatus.success

  init(isJSON: Bool) { self.isJSON = isJSON }

  /// Whether to show a progress bar.
  var showsBar: Bool { !isJSON && Output.hasTerminalError }

  mutating func add(_ outcome: Prefetch.Outcome, item: FeedItem) {
    if isJSON { Output.line(outcome.json(of: item)) }
    let message: String
    switch outcome.result {
    case .fetched, .skipped: return
    case .unkept(let variant, _, let reason): message = "`\(variant.url)`: \(reason)"
    case .failed(let error): (message, status) = (error.description, .failure)
    }
    if showsBar { ProgressBar.clear() }
    Output.report(message)
  }

  func end(_ progress: PrefetchProgress) {
    if showsBar { ProgressBar.clear() }
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

/// The progress of a prefetch, as one line on a terminal.
enum ProgressBar {
  private static let width = 24

  static func draw(_ progress: PrefetchProgress) { Output.standardError("\r\u{1B}[K" + line(progress)) }

  static func clear() { Output.standardError("\r\u{1B}[K") }

  /// A line such as `[########                ] 14 of 42 images, 3.1 MB, 1.2 MB/s, 8 s left`.
  static func line(_ progress: PrefetchProgress) -> String {
    let filled = progress.count == 0 ? width : width * progress.done / progress.count
    let bar = String(repeating: "#", count: filled) + String(repeating: " ", count: width - filled)
    var text = "[\(bar)] \(progress.done) of \(progress.count) images, \(progress.received.rounded)"
    if let rate = progress.rate { text += ", \(ByteCount(Int(min(rate, 1e15))).rounded)/s" }
    if let left = progress.remaining, progress.done < progress.count { text += ", \(Self.words(left)) left" }
    return text
  }

  private static func words(_ duration: Duration) -> String {
    let seconds = Int(clamping: duration.components.seconds) + 1
    if seconds < 100 { return "\(seconds) s" }
    return seconds < 6000 ? "\((seconds + 30) / 60) min" : "\((seconds + 1800) / 3600) h"
  }
}
