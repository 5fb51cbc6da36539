import FeedimgSQLite
import Glibc

/// A failed access to the ledger.
package struct UsageFault: Error, Hashable, CustomStringConvertible {
  /// The failed action, such as `read`; it follows "cannot".
  var operation: String
  var path: String
  /// In words.
  var reason: String
  /// Whether another process holds a lock, so that a later try may succeed.
  var isBusy = false

  /// Reads `errno`, so it must run before another call overwrites it.
  init(_ operation: String, _ path: String, reason: Int32 = errno) {
    let words = String(cString: strerror(reason))
    self.operation = operation
    self.path = path
    self.reason = words.prefix(1).lowercased() + words.dropFirst()
    isBusy = reason == EWOULDBLOCK
  }

  init(_ operation: String, _ path: String, _ error: SQLiteError) {
    self.operation = operation
    self.path = path
    reason = error.description
    isBusy = error.isBusy
  }

  package var description: String { "cannot \(operation) `\(path)`: \(reason)" }
}
