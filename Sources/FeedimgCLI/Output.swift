import Glibc

/// All that the program prints, and how it ends.
enum Output {
  /// Prints a line on standard output, at once where a person or a pipe waits for it.
  ///
  /// Ends the program where nobody takes it: quietly if a pipe was closed, else with the reason.
  static func line(_ text: String = "") { document(Printable.text(text) + "\n") }

  /// Prints a text as it is, which ends its own lines; ends the program as ``line(_:)`` does.
  static func document(_ text: String) { document(Array(text.utf8)) }

  /// Prints UTF-8 text as it is, likewise.
  static func document(_ bytes: [UInt8]) {
    guard !standardOutput(bytes) else { return }
    let code = errno
    if code != EPIPE { complain("cannot write to standard output: \(SystemError.text(code))") }
    exit(.failure)
  }

  /// Says on standard error that something is wrong.
  static func complain(_ message: String) { standardError("feedimg: \(Printable.text(message))\n") }

  /// - Returns: Whether all was taken; if not, `errno` tells why.
  static func standardOutput(_ bytes: [UInt8]) -> Bool { write(bytes, to: STDOUT_FILENO) }

  static func standardError(_ text: String) { _ = write(Array(text.utf8), to: STDERR_FILENO) }

  /// Gives the descriptors of standard input, output and error to nothing where they are closed.
  ///
  /// Else the next file that is opened would take their numbers, and get what is meant for people.
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
    FinalCount.write()
    Glibc.exit(status.rawValue)
  }

  /// Whether standard error shows lines to a person, who may like to see progress.
  static var hasTerminalError: Bool { isatty(STDERR_FILENO) == 1 }

  /// Whether standard output may be coloured (no-color.org).
  static let isColoured =
    isatty(STDOUT_FILENO) == 1 && (getenv("NO_COLOR").map { $0.pointee == 0 } ?? true)
    && (getenv("TERM").map { !["", "dumb"].contains(String(cString: $0)) } ?? false)

  static func bold(_ text: String) -> String { isColoured ? "\u{1B}[1m\(text)\u{1B}[0m" : text }

  static func dim(_ text: String) -> String { isColoured ? "\u{1B}[2m\(text)\u{1B}[0m" : text }

  /// A text in one of the eight colours that every terminal has.
  static func coloured(_ text: some StringProtocol, _ colour: Colour) -> String {
    isColoured ? "\u{1B}[3\(colour.rawValue)m\(text)\u{1B}[0m" : String(text)
  }

  /// What a colour says (ECMA-48, 8.3.117).
  enum Colour: Int {
    case bad = 1
    case good = 2
    case doubtful = 3
  }

  /// Writes all bytes, also to a descriptor that does not wait.
  ///
  /// - Returns: Whether all was taken; if not, `errno` tells why.
  static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if written >= 0 {
        rest = rest.dropFirst(written)
      } else if errno == EAGAIN {
        var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&ready, 1, -1)
      } else if errno != EINTR {
        return false
      }
    }
    return true
  }
}
