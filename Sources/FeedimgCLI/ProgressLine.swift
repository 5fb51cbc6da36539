import Glibc

/// The progress of a long command, as one line on a terminal; it prints nothing if standard error is not a
/// terminal.
final class ProgressLine {
  /// The past participle for the images, such as `checked`.
  private let verb: String
  private let isShown = Output.hasTerminalError
  private var isOnScreen = false
  private var shownAt = 0

  /// The shortest time between two updates, in milliseconds.
  private static let pause = 100
  private static let width = 24

  init(verb: String) { self.verb = verb }

  /// Shows the number of images and, if the total is known, a bar.
  func show(_ done: Int, of count: Int? = nil) {
    guard isShown, isDue() else { return }
    guard let count, count > 0 else { return put("\(verb) \(done) images") }
    let part = Double(min(done, count)) / Double(count)
    let filled = Int(part * Double(Self.width))
    let bar = String(repeating: "━", count: filled) + String(repeating: "─", count: Self.width - filled)
    put("\(bar) \(Int(part * 100)) %  \(verb) \(done) of \(count) images")
  }

  /// Removes the line.
  func clear() {
    guard isOnScreen else { return }
    Output.standardError("\r\u{1B}[K")
    isOnScreen = false
  }

  private func put(_ text: String) {
    Output.standardError("\r\(text)\u{1B}[K")
    isOnScreen = true
  }

  private func isDue() -> Bool {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
    let now = time.tv_sec * 1000 + time.tv_nsec / 1_000_000
    guard now - shownAt >= Self.pause else { return false }
    shownAt = now
    return true
  }
}
