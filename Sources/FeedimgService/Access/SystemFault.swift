import Glibc

/// An `errno` in words.
enum SystemFault {
  /// The reason of a failed call.
  ///
  /// - Parameter code: The last one unless told otherwise.
  /// - Returns: In lower case, as it stands within a sentence.
  static func text(_ code: Int32 = errno) -> String {
    let text = strerror(code).map { String(cString: $0) } ?? "error \(code)"
    return text.prefix(1).lowercased() + text.dropFirst()
  }
}
