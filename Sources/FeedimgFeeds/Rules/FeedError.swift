/// Why a document cannot be read.
public struct FeedError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of error.
  public enum Code: String, Sendable, Hashable {
    case tooLong
    case unknownFormat
    /// The document is incomplete, or its syntax is invalid.
    case malformed
    /// The document has another format than expected.
    case otherFormat
    /// An entry is invalid, and the reader is strict.
    case invalidEntry
    /// libxml2, which XML and HTML need, cannot be opened.
    case unavailable
  }

  /// The kind of error.
  public var code: Code
  /// The expected and the found value, without the place.
  public var message: String
  /// The line of a syntax error, counted from one; nil if unknown.
  public var line: Int?
  /// The column of a syntax error, in bytes counted from one; nil if unknown.
  public var column: Int?

  init(_ code: Code, _ message: String, line: Int? = nil, column: Int? = nil) {
    self.code = code
    self.message = message
    self.line = line
    self.column = column
  }

  /// One line with the place.
  public var description: String {
    let place = [line.map { "line \($0)" }, column.map { "column \($0)" }].compactMap { $0 }
    return (place.isEmpty ? "" : place.joined(separator: ", ") + ": ") + message
  }
}
