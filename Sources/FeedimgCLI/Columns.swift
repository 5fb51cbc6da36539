/// Rows of text in columns of even width, two spaces apart.
struct Columns {
  let lines: [String]

  /// - Parameter rows: All with as many cells; the last cell of a row may have any width.
  init(_ rows: [[String]]) {
    let count = rows.map(\.count).max() ?? 0
    let widths = (0..<count).map { column in
      rows.reduce(0) { max($0, column < $1.count ? $1[column].count : 0) }
    }
    lines = rows.map { row in
      var line = ""
      for (column, cell) in row.enumerated() {
        line += cell
        if column < row.count - 1 { line += String(repeating: " ", count: widths[column] - cell.count + 2) }
      }
      return line
    }
  }
}
