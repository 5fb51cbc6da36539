import Glibc

/// A system call on a ledger that failed.
package struct UsageFault: Error, Hashable, CustomStringConvertible {
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

  package var description: String {
    let words = String(cString: strerror(reason))
    return "cannot \(operation) `\(path)`: \(words.prefix(1).lowercased())\(words.dropFirst())"
  }
}
