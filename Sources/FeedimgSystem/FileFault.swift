import Glibc

/// A system call on a file that failed.
package struct FileFault: Error, Hashable, CustomStringConvertible {
  /// The attempt, such as `read`; follows "cannot".
  package var operation: String
  package var path: String
  /// The reason of the system (errno).
  package var reason: Int32

  /// Must be called before another call can overwrite the reason.
  package init(_ operation: String, _ path: String, reason: Int32 = errno) {
    self.operation = operation
    self.path = path
    self.reason = reason
  }

  /// Whether the disk, or the quota of the user, is full.
  package var isDiskFull: Bool { [ENOSPC, EDQUOT].contains(reason) }

  package var description: String { "cannot \(operation) `\(path)`: \(Self.words(for: reason))" }

  /// The words of the system for a reason, such as `permission denied`.
  package static func words(for reason: Int32) -> String {
    let words = String(cString: strerror(reason))
    return words.prefix(1).lowercased() + words.dropFirst()
  }
}
