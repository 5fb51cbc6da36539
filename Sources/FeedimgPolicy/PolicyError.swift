package import FeedimgJSON

/// One thing that is wrong with a policy, where it stands, and what was probably meant.
package struct PolicyError: Error, Sendable, Hashable {
  /// The file's name as it was given, such as `default.md`.
  package var file: String
  /// Counted from one; nil where the file as a whole is meant.
  package var line: Int?
  /// Counted in Unicode scalars from one; nil where the line as a whole is meant.
  package var column: Int?
  /// The part of a JSON text, such as `rules[2].when.network`; nil for Markdown.
  package var field: String?
  /// One line in words, without the place and the suggestion.
  package var message: String
  /// The word that was probably meant.
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

  /// Where it stands, such as `default.md:5:12`.
  package var place: String {
    let line = line.map { ":\($0)" } ?? ""
    let column = column.map { ":\($0)" } ?? ""
    return file + line + column
  }
}

extension PolicyError: CustomStringConvertible {
  package var description: String {
    let question = suggestion.map { "; did you mean `\($0)`?" } ?? ""
    let field = field.map { "`\($0)`: " } ?? ""
    return "\(place): \(field)\(message)\(question)"
  }
}

/// Everything that is wrong with a policy, in the order in which it stands; never empty.
package struct PolicyErrors: Error, Sendable, Hashable, CustomStringConvertible {
  package var errors: [PolicyError]

  init(errors: [PolicyError]) { self.errors = errors }

  /// The one problem of a file that cannot even be read.
  package init(_ error: PolicyError) { errors = [error] }

  /// One line an error.
  package var description: String { errors.map(\.description).joined(separator: "\n") }
}

extension StringProtocol {
  /// Short enough for a message, without control characters, in the backticks of a user's own words.
  var quoted: String {
    let shown = unicodeScalars.prefix(41).map { $0.value < 0x20 || $0.value == 0x7F ? "\u{FFFD}" : $0 }
    let text = String(String.UnicodeScalarView(shown.count > 40 ? shown.prefix(37) : shown[...]))
    return shown.count > 40 ? "`\(text)...`" : "`\(text)`"
  }
}

extension PolicyError {
  /// The problem as an object; members that do not apply are left out.
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

extension PolicyErrors {
  /// The problems as an array.
  package var json: JSONValue { .array(errors.map(\.json)) }
}

/// The problems of one file, gathered as it is read.
struct ProblemList {
  let file: String
  private(set) var errors: [PolicyError] = []

  /// More are not listed: a file with so many is not a policy with slips.
  private static let greatestCount = 100

  init(file: String) { self.file = file }

  /// Whether further reading can tell nothing that would be listed.
  var isFull: Bool { errors.count > Self.greatestCount }

  mutating func add(_ error: PolicyError) {
    guard !isFull else { return }
    errors.append(
      errors.count < Self.greatestCount
        ? error
        : PolicyError(
          file: file,
          line: error.line,
          "more than \(Self.greatestCount) problems, the rest is left out"
        )
    )
  }

  mutating func add(line: Int?, column: Int? = nil, _ message: String, suggestion: String? = nil) {
    add(PolicyError(file: file, line: line, column: column, message, suggestion: suggestion))
  }

  mutating func add(_ fault: CellError, in cell: MarkdownTable.Cell, line: Int) {
    add(line: line, column: cell.column, fault.message, suggestion: fault.suggestion)
  }

  /// - Throws: ``PolicyErrors`` if there are any problems, in the order in which they stand.
  func check() throws(PolicyErrors) {
    guard !errors.isEmpty else { return }
    throw PolicyErrors(errors: errors)
  }
}
