import Glibc

/// A system call on a file that failed.
struct FileFault: Error, Hashable, CustomStringConvertible {
  /// What was tried, such as `read`; reads on after "cannot".
  var operation: String
  var path: String
  /// The system's number for the reason (errno).
  var reason: Int32

  /// Must be made before another call can overwrite the reason.
  init(_ operation: String, _ path: String, reason: Int32 = errno) {
    self.operation = operation
    self.path = path
    self.reason = reason
  }

  /// Whether the disk, or what one may use of it, is full.
  var isForWantOfRoom: Bool { [ENOSPC, EDQUOT].contains(reason) }

  var description: String { "cannot \(operation) `\(path)`: \(Self.words(for: reason))" }

  /// The system's words for a reason, as they read within a sentence.
  static func words(for reason: Int32) -> String {
    let words = String(cString: strerror(reason))
    return words.prefix(1).lowercased() + words.dropFirst()
  }
}
