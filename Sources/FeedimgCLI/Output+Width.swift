import Glibc

extension Output {
  /// The characters that a line of standard output may take; nil where nobody looks at it.
  ///
  /// `COLUMNS` says it, else the terminal does.
  static let width: Int? = {
    if let columns = getenv("COLUMNS").flatMap({ Int(String(cString: $0)) }), columns > 0 { return columns }
    guard isatty(STDOUT_FILENO) == 1 else { return nil }
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }()

  /// A text in lines that fit; what does not fit goes on below, indented by so many spaces.
  static func wrapped(_ text: String, indent: Int) -> String {
    let indent = String(repeating: " ", count: indent)
    return WrappedText.lines(text, width: width ?? .max, indent: indent).joined(separator: "\n")
  }
}
