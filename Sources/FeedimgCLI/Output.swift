import FeedimgSystem
import Glibc
import Synchronization

/// The output of the program, and its end.
enum Output {
  /// Prints a line on standard output without buffering.
  ///
  /// If printing fails, it ends the program: silently if a pipe was closed, else with the reason.
  static func line(_ text: String) { document(printable(text) + "\n") }

  /// Prints a text unchanged; ends the program like ``line(_:)`` if printing fails.
  static func document(_ text: String) { document(Array(text.utf8)) }

  /// Prints UTF-8 text unchanged; ends the program like ``line(_:)`` if printing fails.
  static func document(_ bytes: [UInt8]) {
    clearProgress()
    guard let code = write(bytes, to: STDOUT_FILENO) else { return }
    if code != EPIPE { report("cannot write to standard output: \(FileError.words(for: code))") }
    exit(.failure)
  }

  /// Prints an error or a warning on standard error.
  static func report(_ message: String) { errorLine("feedimg: \(message)") }

  static func report(_ messages: [String]) {
    for message in messages { report(message) }
  }

  /// Prints a line on standard error.
  static func errorLine(_ text: String) {
    clearProgress()
    standardError("\(printable(text))\n")
  }

  /// Writes all bytes, even to a non-blocking descriptor.
  ///
  /// - Returns: The `errno` of the failure; nil if all bytes were written.
  static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32? {
    do throws(FileError) {
      try OpenFile.write(bytes, to: descriptor, path: "")
      return nil
    } catch {
      return error.reason
    }
  }

  private static func standardError(_ text: String) {
    _ = write(Array(text.utf8), to: STDERR_FILENO)
  }

  /// Opens `/dev/null` for each closed descriptor of standard input, output and error.
  ///
  /// Otherwise, the next opened file would get such a number, and output would go to that file.
  static func occupyStandardDescriptors() {
    while true {
      let descriptor = open("/dev/null", O_RDWR)
      guard descriptor >= 0 else { return }
      guard descriptor > STDERR_FILENO else { continue }
      close(descriptor)
      return
    }
  }

  static func exit(_ status: ExitStatus) -> Never {
    clearProgress()
    FinalCount.write()
    Glibc.exit(status.rawValue)
  }

  /// Whether standard error is a terminal, which can show progress.
  static let hasTerminalError = isatty(STDERR_FILENO) == 1

  /// Whether the terminal shows a line of progress.
  private static let hasProgress = Atomic(false)

  /// Shows a line of progress until the next output; only on a terminal.
  static func progress(_ text: String) {
    guard hasTerminalError else { return }
    hasProgress.store(true, ordering: .relaxed)
    standardError("\r\u{1B}[K\(printable(text))")
  }

  private static func clearProgress() {
    if hasProgress.exchange(false, ordering: .relaxed) { standardError("\r\u{1B}[K") }
  }

  /// Whether standard output is a terminal with colours and the user allows them (no-color.org).
  static let isColoured =
    isatty(STDOUT_FILENO) == 1 && (getenv("NO_COLOR").map { $0.pointee == 0 } ?? true)
    && (getenv("TERM").map { !["", "dumb"].contains(String(cString: $0)) } ?? false)

  static func bold(_ text: String) -> String { isColoured ? "\u{1B}[1m\(text)\u{1B}[0m" : text }

  static func dim(_ text: String) -> String { isColoured ? "\u{1B}[2m\(text)\u{1B}[0m" : text }

  /// A text in one of the eight basic colours of terminals.
  static func coloured(_ text: some StringProtocol, _ colour: Colour) -> String {
    isColoured ? "\u{1B}[3\(colour.rawValue)m\(text)\u{1B}[0m" : String(text)
  }

  /// The meaning of a colour, with its number (ECMA-48, 8.3.117).
  enum Colour: Int {
    case bad = 1
    case good = 2
    case warning = 3
  }

  /// A text that is safe to print; the colour codes of the program stay.
  private static func printable(_ text: String) -> String {
    Printable.text(text, keeping: isColoured ? styles : [])
  }

  /// The colour codes that the program writes.
  private static let styles = ["0", "1", "2", "31", "32", "33"].map { "\u{1B}[\($0)m" }

  /// The width of standard output in characters, from `COLUMNS` or the terminal; nil without either.
  static let width: Int? = {
    if let columns = getenv("COLUMNS").flatMap({ Int(String(cString: $0)) }), columns > 0 { return columns }
    guard isatty(STDOUT_FILENO) == 1 else { return nil }
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }()

  /// Wraps a text at the width; all lines but the first are indented by this many spaces.
  static func wrapped(_ text: String, indent: Int) -> String {
    let indent = String(repeating: " ", count: indent)
    return WrappedText.lines(text, width: width ?? .max, indent: indent).joined(separator: "\n")
  }
}
