/// A table as it stands in a Markdown text (GitHub Flavored Markdown §4.10).
struct MarkdownTable: Sendable, Hashable {
  /// One cell, without the white space around it and with `\|` read as `|`.
  struct Cell: Sendable, Hashable {
    var text: String
    /// Counted in Unicode scalars from one.
    var column: Int
  }

  /// One line of a table.
  struct Row: Sendable, Hashable {
    /// Counted from one.
    var line: Int
    var cells: [Cell]
  }

  /// The nearest headings above, the outermost first.
  var headings: [String]
  var header: Row
  /// The row of dashes.
  var delimiter: Row
  /// At most ``greatestRowCount``; the others are passed over.
  var rows: [Row]
  /// Whether rows were passed over.
  var isCut = false

  /// No table that a person reads has more rows.
  static let greatestRowCount = 1000
}

extension MarkdownTable.Row {
  /// Splits a line at the `|` that are not escaped; one at either end is left out.
  ///
  /// - Parameters:
  ///   - text: The line without its end, valid UTF-8.
  ///   - line: Its number.
  init(_ text: UnsafeBufferPointer<UInt8>.SubSequence, line: Int) {
    self.line = line
    cells = []
    var place = text.startIndex
    var end = text.endIndex
    while place < end, text[place].isBlank { place += 1 }
    while place < end, text[end - 1].isBlank { end -= 1 }
    if place < end, text[place] == UInt8(ascii: "|") { place += 1 }
    if place < end, text[end - 1] == UInt8(ascii: "|"), !Self.isEscaped(end - 1, in: text, from: place) {
      end -= 1
    }
    // Columns are counted as the cells go by, so that a long line is walked once.
    var column = 1
    var counted = text.startIndex
    while true {
      var next = place
      while next < end, text[next] != UInt8(ascii: "|") || Self.isEscaped(next, in: text, from: place) {
        next += 1
      }
      var first = place
      var last = next
      while first < last, text[first].isBlank { first += 1 }
      while first < last, text[last - 1].isBlank { last -= 1 }
      if first == last { (first, last) = (place, place) }
      while counted < first {
        if text[counted] & 0xC0 != 0x80 { column += 1 }
        counted += 1
      }
      cells.append(MarkdownTable.Cell(text: Self.unescaped(text[first..<last]), column: column))
      guard next < end else { return }
      place = next + 1
    }
  }

  /// Whether a backslash stands before a byte; GitHub does not ask whether that one is escaped.
  private static func isEscaped(
    _ index: Int,
    in text: UnsafeBufferPointer<UInt8>.SubSequence,
    from start: Int
  ) -> Bool {
    index > start && text[index - 1] == UInt8(ascii: "\\")
  }

  private static func unescaped(_ text: UnsafeBufferPointer<UInt8>.SubSequence) -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count)
    for byte in text {
      if byte == UInt8(ascii: "|"), bytes.last == UInt8(ascii: "\\") { bytes.removeLast() }
      bytes.append(byte)
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
