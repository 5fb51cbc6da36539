import Feedimg

/// The progress of a long command, which ``Output`` shows as one line on a terminal.
final class ProgressLine {
  /// The past participle for the images, such as `checked`.
  private let verb: String
  private var shownAt: ContinuousClock.Instant?

  private static let interval = Duration.milliseconds(100)
  private static let width = 24

  init(_ verb: String) { self.verb = verb }

  /// Shows the number of images and, if the total is known, a bar.
  func show(_ done: Int, of count: Int?) {
    let now = ContinuousClock.now
    if let shownAt, now - shownAt < Self.interval { return }
    shownAt = now
    if let count, count > 0 {
      let part = Double(min(done, count)) / Double(count)
      let bar = Self.bar(Int(part * Double(Self.width)), "━", "─")
      Output.progress("\(bar) \(Int(part * 100)) %  \(verb) \(done) of \(count) images")
    } else {
      Output.progress("\(verb) \(done) images")
    }
  }

  /// A line such as `[########                ] 14 of 42 images, 3.1 MB, 1.2 MB/s, 8 s left`.
  static func text(_ progress: PrefetchProgress) -> String {
    let bar = bar(progress.count == 0 ? width : width * progress.done / progress.count, "#", " ")
    var text = "[\(bar)] \(progress.done) of \(progress.count) images, \(progress.received.rounded)"
    if let rate = progress.rate { text += ", \(ByteCount(Int(min(rate, 1e15))).rounded)/s" }
    if let left = progress.remaining, progress.done < progress.count { text += ", \(words(left)) left" }
    return text
  }

  private static func bar(_ filled: Int, _ full: String, _ empty: String) -> String {
    String(repeating: full, count: filled) + String(repeating: empty, count: width - filled)
  }

  private static func words(_ duration: Duration) -> String {
    let seconds = Int(clamping: duration.components.seconds) + 1
    if seconds < 100 { return "\(seconds) s" }
    return seconds < 6000 ? "\((seconds + 30) / 60) min" : "\((seconds + 1800) / 3600) h"
  }
}
