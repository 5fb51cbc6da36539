import FeedimgSQLite
import FeedimgSystem
import Glibc

/// A failed access to the ledger.
package struct UsageFault: Error, Hashable, CustomStringConvertible {
  package let description: String
  /// Whether another process holds a lock, so that a later try may succeed.
  let isBusy: Bool

  init(_ fault: FileFault) {
    description = fault.description
    isBusy = fault.reason == EWOULDBLOCK
  }

  init(_ operation: String, _ path: String, _ error: SQLiteError) {
    description = "cannot \(operation) `\(path)`: \(error)"
    isBusy = error.isBusy
  }

  static func ofFiles<Value>(_ body: () throws(FileFault) -> Value) throws(UsageFault) -> Value {
    do throws(FileFault) { return try body() } catch { throw UsageFault(error) }
  }
}
