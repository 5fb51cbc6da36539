/// The first error in a text that is not JSON.
package struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The line, counted from one.
  package var line: Int
  /// The column in bytes, counted from one.
  package var column: Int
  /// The expected and the found text, or the broken rule.
  package var message: String

  package init(line: Int, column: Int, message: String) {
    (self.line, self.column, self.message) = (line, column, message)
  }

  package var description: String { "line \(line), column \(column): \(message)" }
}
