/// A table of a Markdown text (GitHub Flavored Markdown §4.10).
struct MarkdownTable: Sendable, Hashable {
  /// One cell, without the white space around it.
  ///
  /// `\|` is read as `|`.
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
  /// At most ``maximumRowCount``; later rows are skipped.
  var rows: [Row]
  /// Whether the reader skipped rows.
  var isCut = false

  /// The most rows that the reader keeps; tables for people are shorter.
  static let maximumRowCount = 1000
}

extension MarkdownTable.Row {
  /// Splits a line, without its end, at the unescaped `|`; ignores a `|` at either end.
  init(_ text: UnsafeBufferPointer<UInt8>.SubSequence, line: Int) {
    var cells: [MarkdownTable.Cell] = []
    var bytes: [UInt8] = []
    // Count columns while splitting, so that a long line is read once.
    var (column, start) = (0, 1)
    func endCell() {
      while bytes.last?.isBlank ?? false { bytes.removeLast() }
      cells.append(MarkdownTable.Cell(text: String(decoding: bytes, as: UTF8.self), column: start))
      (bytes, start) = ([], column + 1)
    }
    for byte in text {
      if byte & 0xC0 != 0x80 { column += 1 }
      if byte == UInt8(ascii: "|") {
        // As on GitHub, an escaped backslash also escapes.
        if bytes.last == UInt8(ascii: "\\") { bytes[bytes.count - 1] = byte } else { endCell() }
      } else if !bytes.isEmpty || !byte.isBlank {
        if bytes.isEmpty { start = column }
        bytes.append(byte)
      }
    }
    endCell()
    if cells.count > 1, cells[0].text.isEmpty { cells.removeFirst() }
    if cells.count > 1, cells[cells.count - 1].text.isEmpty { cells.removeLast() }
    self.line = line
    self.cells = cells
  }
}

/// Finds the tables of a Markdown text and skips code fences, comments and prose.
///
/// Recognises fenced and indented code, HTML comments, block quotes and ATX headings (CommonMark 0.31, GitHub
/// Flavored Markdown §4.10).
struct MarkdownScanner {
  private let text: UnsafeBufferPointer<UInt8>
  private var offset = 0
  /// The number of the line read last.
  private var lineNumber = 0
  private var headings: [(level: Int, text: String)] = []
  private var tables: [MarkdownTable] = []

  /// The tables in the order of the text.
  ///
  /// Lines may end in LF, CRLF or CR. A byte order mark may come first. The text must be valid UTF-8.
  static func tables(in bytes: [UInt8]) -> [MarkdownTable] {
    bytes.withUnsafeBufferPointer { text in
      var scanner = MarkdownScanner(text: text)
      scanner.scan()
      return scanner.tables
    }
  }

  private init(text: UnsafeBufferPointer<UInt8>) {
    self.text = text
    if text.starts(with: [0xEF, 0xBB, 0xBF]) { offset = 3 }
  }

  private typealias Line = UnsafeBufferPointer<UInt8>.SubSequence

  private mutating func scan() {
    while let line = nextLine() {
      guard let first = line.content else { continue }
      switch text[first] {
      case UInt8(ascii: "`"), UInt8(ascii: "~"):
        if let fence = Self.fence(line.bytes, at: first) { skipFence(fence) }
      case UInt8(ascii: "<"):
        if line.bytes[first...].starts(with: "<!--".utf8) { skipComment(line.bytes[(first + 4)...]) }
      case UInt8(ascii: "#"):
        heading(line.bytes, at: first)
      case UInt8(ascii: ">"):
        break
      default:
        table(line.bytes)
      }
    }
  }

  /// Reads a line without its end, and finds its first character that is not blank.
  ///
  /// `content` is nil for blank lines and for code indented by four columns or more.
  private mutating func nextLine() -> (bytes: Line, content: Int?)? {
    guard offset < text.count else { return nil }
    let start = offset
    while offset < text.count, text[offset] != 0x0A, text[offset] != 0x0D { offset += 1 }
    let bytes = text[start..<offset]
    if offset < text.count {
      offset += text[offset] == 0x0D && offset + 1 < text.count && text[offset + 1] == 0x0A ? 2 : 1
    }
    lineNumber += 1
    var first = start
    while first < bytes.endIndex, first < start + 4, text[first] == 0x20 { first += 1 }
    let hasContent = first < bytes.endIndex && first < start + 4 && !text[first].isBlank
    return (bytes, hasContent ? first : nil)
  }

  // MARK: Other blocks

  private static func fence(_ line: Line, at start: Int) -> (mark: UInt8, count: Int)? {
    let mark = line[start]
    let count = run(of: mark, in: line, at: start)
    guard count >= 3, mark == UInt8(ascii: "~") || !line[(start + count)...].contains(mark) else {
      return nil
    }
    return (mark, count)
  }

  private mutating func skipFence(_ fence: (mark: UInt8, count: Int)) {
    while let line = nextLine() {
      guard let first = line.content, text[first] == fence.mark else { continue }
      let count = Self.run(of: fence.mark, in: line.bytes, at: first)
      if count >= fence.count, line.bytes[(first + count)...].allSatisfy(\.isBlank) { return }
    }
  }

  private static func run(of mark: UInt8, in line: Line, at start: Int) -> Int {
    var end = start
    while end < line.endIndex, line[end] == mark { end += 1 }
    return end - start
  }

  private mutating func skipComment(_ rest: Line) {
    var line = rest
    while true {
      var dashes = 0
      for byte in line {
        if byte == UInt8(ascii: ">"), dashes >= 2 { return }
        dashes = byte == UInt8(ascii: "-") ? dashes + 1 : 0
      }
      guard let next = nextLine() else { return }
      line = next.bytes
    }
  }

  private mutating func heading(_ line: Line, at start: Int) {
    guard let level = Self.headingLevel(line, at: start) else { return table(line) }
    var text = String(decoding: line[(start + level)...], as: UTF8.self).singleSpaced[...]
    // The closing sequence: `## Promises ##`.
    let closing = text.utf8.reversed().prefix { $0 == UInt8(ascii: "#") }.count
    if closing > 0, text.utf8.dropLast(closing).last?.isBlank ?? true { text = text.dropLast(closing + 1) }
    headings.removeAll { $0.level >= level }
    headings.append((level, String(text)))
  }

  private static func headingLevel(_ line: Line, at start: Int) -> Int? {
    let level = run(of: UInt8(ascii: "#"), in: line, at: start)
    return (1...6).contains(level) && line[(start + level)...].first?.isBlank ?? true ? level : nil
  }

  // MARK: Tables

  private mutating func table(_ line: Line) {
    guard line.contains(UInt8(ascii: "|")) else { return }
    let (afterHeader, headerLine) = (offset, lineNumber)
    guard let dashes = nextLine(), dashes.content != nil, Self.isDelimiter(dashes.bytes) else {
      (offset, lineNumber) = (afterHeader, headerLine)
      return
    }
    var table = MarkdownTable(
      headings: headings.map(\.text),
      header: MarkdownTable.Row(line, line: headerLine),
      delimiter: MarkdownTable.Row(dashes.bytes, line: lineNumber),
      rows: []
    )
    while true {
      let (afterRow, rowLine) = (offset, lineNumber)
      guard let row = nextLine(), let first = row.content, !endsTable(row.bytes, at: first) else {
        (offset, lineNumber) = (afterRow, rowLine)
        break
      }
      if table.rows.count < MarkdownTable.maximumRowCount {
        table.rows.append(MarkdownTable.Row(row.bytes, line: lineNumber))
      } else {
        table.isCut = true
      }
    }
    tables.append(table)
  }

  /// Whether a line starts another block, which ends a table.
  private func endsTable(_ line: Line, at first: Int) -> Bool {
    switch text[first] {
    case UInt8(ascii: "`"), UInt8(ascii: "~"): Self.fence(line, at: first) != nil
    case UInt8(ascii: "#"): Self.headingLevel(line, at: first) != nil
    case UInt8(ascii: ">"): true
    case UInt8(ascii: "<"): line[first...].starts(with: "<!--".utf8)
    default: false
    }
  }

  private static func isDelimiter(_ line: Line) -> Bool {
    var hasPipe = false
    var dashes = 0
    for byte in line {
      switch byte {
      case UInt8(ascii: "|"): hasPipe = true
      case UInt8(ascii: "-"): dashes += 1
      case UInt8(ascii: ":"), 0x20, 0x09: break
      default: return false
      }
    }
    return hasPipe && dashes > 0
  }
}
