/// Where and why a text is not JSON.
package struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Counted from one.
  package var line: Int
  /// Counted in bytes from one.
  package var column: Int
  /// What was expected and what stands there instead.
  package var message: String

  package var description: String { "line \(line), column \(column): \(message)" }
}
