import Glibc

extension Output {
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
