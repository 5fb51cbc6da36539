import Glibc

/// All that the program prints, and how it ends.
enum Output {
  /// Prints a line on standard output, at once where a person or a pipe waits for it.
  static func line(_ text: String = "") { standardOutput(text + "\n") }

  /// Says on standard error that something is wrong.
  static func complain(_ message: String) { standardError("feedimg: \(message)\n") }

  static func standardOutput(_ text: String) { write(Array(text.utf8), to: STDOUT_FILENO) }

  static func standardOutput(_ bytes: [UInt8]) { write(bytes, to: STDOUT_FILENO) }

  static func standardError(_ text: String) { write(Array(text.utf8), to: STDERR_FILENO) }

  static func exit(_ status: ExitStatus) -> Never { Glibc.exit(status.rawValue) }

  /// Whether standard error shows lines to a person, who may like to see progress.
  static var hasTerminalError: Bool { isatty(STDERR_FILENO) == 1 }

  /// Whether standard output may be coloured (no-color.org).
  static var isColoured: Bool {
    isatty(STDOUT_FILENO) == 1 && (getenv("NO_COLOR").map { $0.pointee == 0 } ?? true)
  }

  static func bold(_ text: String) -> String { isColoured ? "\u{1B}[1m\(text)\u{1B}[0m" : text }

  static func dim(_ text: String) -> String { isColoured ? "\u{1B}[2m\(text)\u{1B}[0m" : text }

  private static func write(_ bytes: [UInt8], to descriptor: Int32) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if written < 0, errno == EINTR { continue }
      guard written > 0 else { return }
      rest = rest.dropFirst(written)
    }
  }
}
