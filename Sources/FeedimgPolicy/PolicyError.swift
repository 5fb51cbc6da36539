package import FeedimgJSON

/// One problem of a policy: where it is and the correction that the author probably meant.
package struct PolicyError: Error, Sendable, Hashable {
  /// The file name as the caller gave it, such as `default.md`.
  package var file: String
  /// Counted from one; nil for a problem of the whole file.
  package var line: Int?
  /// Counted in Unicode scalars from one; nil for a problem of the whole line.
  package var column: Int?
  /// The part of a JSON text, such as `rules[2].when.network`; nil for Markdown.
  package var field: String?
  /// One line, without the place and the suggestion.
  package var message: String
  /// The word that the author probably meant.
  package var suggestion: String?

  package init(
    file: String,
    line: Int? = nil,
    column: Int? = nil,
    _ message: String,
    suggestion: String? = nil
  ) {
    self.file = file
    self.line = line
    self.column = column
    self.message = message
    self.suggestion = suggestion
  }

  /// File, line and column, such as `default.md:5:12`.
  package var place: String {
    let line = line.map { ":\($0)" } ?? ""
    let column = column.map { ":\($0)" } ?? ""
    return file + line + column
  }
}

extension PolicyError: CustomStringConvertible {
  package var description: String {
    let hint = suggestion.map { "; did you mean `\($0)`?" } ?? ""
    let field = field.map { "`\($0)`: " } ?? ""
    return "\(place): \(field)\(message)\(hint)"
  }
}

/// All problems of a policy, in the order of the file; never empty.
package struct PolicyErrors: Error, Sendable, Hashable, CustomStringConvertible {
  package var errors: [PolicyError]

  init(errors: [PolicyError]) { self.errors = errors }

  /// The only problem.
  package init(_ error: PolicyError) { errors = [error] }

  /// One line per problem.
  package var description: String { errors.map(\.description).joined(separator: "\n") }
}

extension StringProtocol {
  /// The text in backticks, at most 40 characters, with control characters replaced.
  var quoted: String {
    let shown = unicodeScalars.prefix(41).map { $0.value < 0x20 || $0.value == 0x7F ? "\u{FFFD}" : $0 }
    let text = String(String.UnicodeScalarView(shown.count > 40 ? shown.prefix(37) : shown[...]))
    return shown.count > 40 ? "`\(text)...`" : "`\(text)`"
  }
}

extension PolicyError {
  /// The problem as an object.
  ///
  /// Members without a value are omitted.
  package var json: JSONValue { .object(JSONObject(members)) }

  var members: [(String, JSONValue)] {
    var members: [(String, JSONValue)] = [("file", .string(file))]
    if let line { members.append(("line", .integer(line))) }
    if let column { members.append(("column", .integer(column))) }
    if let field { members.append(("field", .string(field))) }
    members.append(("message", .string(message)))
    if let suggestion { members.append(("suggestion", .string(suggestion))) }
    return members
  }
}

/// The problems found so far in one file.
struct ProblemList {
  let file: String
  private(set) var errors: [PolicyError] = []

  /// The most problems that are listed.
  private static let maximumCount = 100

  init(file: String) { self.file = file }

  /// Whether the list is full, so that the caller can stop reading.
  var isFull: Bool { errors.count > Self.maximumCount }

  mutating func add(_ error: PolicyError) {
    guard !isFull else { return }
    errors.append(
      errors.count < Self.maximumCount
        ? error
        : PolicyError(
          file: file,
          line: error.line,
          "more than \(Self.maximumCount) problems, the others are not listed"
        )
    )
  }

  mutating func add(line: Int?, column: Int? = nil, _ message: String, suggestion: String? = nil) {
    add(PolicyError(file: file, line: line, column: column, message, suggestion: suggestion))
  }

  /// Reads a cell, or lists why it cannot be read.
  @discardableResult
  mutating func read<Value>(
    _ cell: MarkdownTable.Cell,
    line: Int,
    _ read: (String) throws(FactError) -> Value?
  ) -> Value? {
    do throws(FactError) {
      return try read(cell.text)
    } catch {
      add(line: line, column: cell.column, error.message, suggestion: error.suggestion)
      return nil
    }
  }

  /// - Throws: ``PolicyErrors`` if there are any problems, in the order of the file.
  func check() throws(PolicyErrors) {
    guard !errors.isEmpty else { return }
    throw PolicyErrors(errors: errors)
  }
}
