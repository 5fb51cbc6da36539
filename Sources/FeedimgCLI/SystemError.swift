import Glibc

/// An `errno` in words.
enum SystemError {
  /// In lower case, as it stands within a sentence.
  static func text(_ code: Int32) -> String {
    let text = strerror(code).map { String(cString: $0) } ?? "error \(code)"
    return text.prefix(1).lowercased() + text.dropFirst()
  }
}
