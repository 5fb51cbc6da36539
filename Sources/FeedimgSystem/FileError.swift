import Glibc

/// The error of a failed system call on a file.
package struct FileError: Error, Hashable, CustomStringConvertible {
  /// The operation, such as `read`; messages put "cannot" before it.
  package var operation: String
  package var path: String
  /// The `errno` of the call.
  package var reason: Int32

  /// Creates the error; without `reason`, no other system call may come between the failure and this call.
  package init(_ operation: String, _ path: String, reason: Int32 = errno) {
    self.operation = operation
    self.path = path
    self.reason = reason
  }

  /// Whether the disk is full or the user's quota is used up.
  package var isDiskFull: Bool { [ENOSPC, EDQUOT].contains(reason) }

  package var description: String { "cannot \(operation) `\(path)`: \(Self.words(for: reason))" }

  /// The system's text for an `errno`, such as `permission denied`.
  package static func words(for reason: Int32) -> String {
    let words = String(cString: strerror(reason))
    return words.prefix(1).lowercased() + words.dropFirst()
  }
}
