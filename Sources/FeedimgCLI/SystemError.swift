import Glibc

/// The system's text for an `errno`.
enum SystemError {
  /// The text, in lower case at its start.
  static func text(_ code: Int32) -> String {
    let text = strerror(code).map { String(cString: $0) } ?? "error \(code)"
    return text.prefix(1).lowercased() + text.dropFirst()
  }
}
