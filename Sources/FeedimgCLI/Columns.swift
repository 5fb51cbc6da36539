/// Rows of text in aligned columns, two spaces apart.
struct Columns {
  /// One element for each row; a wrapped row contains line feeds.
  let lines: [String]

  /// A line has at most `width` characters; cells wrap between words, so it may exceed a very small width.
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

  /// Narrows the widest column repeatedly, but never below the length of its longest word.
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

extension String {
  /// The text with spaces after it, or before it, up to a width.
  func padded(to width: Int, leading: Bool = false) -> String {
    let space = String(repeating: " ", count: max(0, width - count))
    return leading ? space + self : self + space
  }
}
