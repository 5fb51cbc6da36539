/// Rows of text in columns of even width, two spaces apart.
struct Columns {
  /// One for each row; where there was not room enough, several, parted by line feeds.
  let lines: [String]

  /// - Parameters:
  ///   - rows: All with as many cells; the last cell of a row may have any width.
  ///   - width: What a line may take, in characters; nil for any. Where the rows need more, long cells go on below
  ///     themselves. Words are not broken, so that a very narrow place may be exceeded.
  init(_ rows: [[String]], width: Int? = nil) {
    let count = rows.map(\.count).max() ?? 0
    var widths = (0..<count).map { column in
      rows.reduce(0) { max($0, column < $1.count ? $1[column].count : 0) }
    }
    if let width { Self.narrow(&widths, of: rows, to: width - 2 * (count - 1)) }
    lines = rows.map { row in
      let cells = zip(row, widths).map { WrappedText.lines($0, width: width == nil ? .max : $1) }
      let height = cells.map(\.count).max() ?? 0
      return (0..<height).map { Self.line($0, of: cells, widths) }.joined(separator: "\n")
    }
  }

  private static func line(_ number: Int, of cells: [[String]], _ widths: [Int]) -> String {
    var line = ""
    var column = 0
    for (cell, width) in zip(cells, widths) {
      let text = number < cell.count ? cell[number] : ""
      if !text.isEmpty {
        line += String(repeating: " ", count: max(0, column - line.count)) + text
      }
      column += width + 2
    }
    return line
  }

  /// Takes from the widest column, again and again, but never so much that a word has no room.
  private static func narrow(_ widths: inout [Int], of rows: [[String]], to total: Int) {
    let least = widths.indices.map { column in
      rows.reduce(1) { width, row in
        guard column < row.count else { return width }
        return max(width, WrappedText.longestWord(row[column]))
      }
    }
    while widths.reduce(0, +) > total {
      let candidates = widths.indices.filter { widths[$0] > least[$0] }
      guard let widest = candidates.max(by: { widths[$0] < widths[$1] }) else { return }
      widths[widest] -= 1
    }
  }
}
