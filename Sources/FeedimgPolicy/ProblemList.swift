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
