import Glibc

/// The text of an `errno`.
enum SystemErrorText {
  /// Describes why a call failed.
  ///
  /// - Parameter code: The default is the code of the last call.
  /// - Returns: The reason in lower case, for the middle of a sentence.
  static func of(_ code: Int32 = errno) -> String {
    let text = strerror(code).map { String(cString: $0) } ?? "error \(code)"
    return text.prefix(1).lowercased() + text.dropFirst()
  }
}
