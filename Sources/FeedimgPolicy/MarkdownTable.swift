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
  init(_ text: ArraySlice<UInt8>, line: Int) {
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
  private typealias Line = ArraySlice<UInt8>

  /// The block that a line begins or continues.
  private enum Block {
    /// A run of at least three backticks or tildes, and the rest of the line.
    case fence(mark: UInt8, count: Int, rest: Line)
    /// The text after `<!--`.
    case comment(Line)
    case heading(level: Int, text: Line)
    case quote
    /// A blank line, or code indented by four columns or more.
    case blank
    case text
  }

  /// The lines without their ends.
  private let lines: [Line]
  /// The number of lines that have been read.
  private var count = 0
  private var headings: [(level: Int, text: String)] = []
  private var tables: [MarkdownTable] = []

  /// The tables in the order of the text.
  ///
  /// Lines may end in LF, CRLF or CR. A byte order mark may come first. The text must be valid UTF-8.
  static func tables(in bytes: [UInt8]) -> [MarkdownTable] {
    var scanner = MarkdownScanner(bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...])
    scanner.scan()
    return scanner.tables
  }

  private init(_ text: Line) {
    lines = text.split(separator: 0x0A, omittingEmptySubsequences: false).flatMap { line in
      let line = line.last == 0x0D ? line.dropLast() : line
      return line.split(separator: 0x0D, omittingEmptySubsequences: false)
    }
  }

  private mutating func scan() {
    while let line = nextLine() {
      switch Self.block(line) {
      case .fence(let mark, let length, _): skipFence(mark, length)
      case .comment(let text): skipComment(text)
      case .heading(let level, let text): addHeading(level, text)
      case .text: addTable(line)
      case .quote, .blank: break
      }
    }
  }

  private mutating func nextLine() -> Line? {
    guard count < lines.count else { return nil }
    count += 1
    return lines[count - 1]
  }

  private static func block(_ line: Line) -> Block {
    let content = line.drop { $0 == 0x20 }
    guard let mark = content.first, !mark.isBlank, line.count - content.count < 4 else { return .blank }
    let rest = content.drop { $0 == mark }
    let length = content.count - rest.count
    switch mark {
    case UInt8(ascii: "`") where length >= 3 && !rest.contains(mark), UInt8(ascii: "~") where length >= 3:
      return .fence(mark: mark, count: length, rest: rest)
    case UInt8(ascii: "<") where content.starts(with: "<!--".utf8): return .comment(content.dropFirst(4))
    case UInt8(ascii: "#") where length <= 6 && rest.first?.isBlank ?? true:
      return .heading(level: length, text: rest)
    case UInt8(ascii: ">"): return .quote
    default: return .text
    }
  }

  private mutating func skipFence(_ mark: UInt8, _ length: Int) {
    while let line = nextLine() {
      if case .fence(mark, let count, let rest) = Self.block(line), count >= length,
        rest.allSatisfy(\.isBlank)
      {
        return
      }
    }
  }

  private mutating func skipComment(_ rest: Line) {
    var line = rest
    while !line.indices.contains(where: { line[$0...].starts(with: "-->".utf8) }) {
      guard let next = nextLine() else { return }
      line = next
    }
  }

  private mutating func addHeading(_ level: Int, _ line: Line) {
    var text = String(decoding: line, as: UTF8.self).singleSpaced[...]
    // The closing sequence: `## Promises ##`.
    let closing = text.utf8.reversed().prefix { $0 == UInt8(ascii: "#") }.count
    if closing > 0, text.utf8.dropLast(closing).last?.isBlank ?? true { text = text.dropLast(closing + 1) }
    headings.removeAll { $0.level >= level }
    headings.append((level, String(text)))
  }

  /// Reads a table if the line is its header, which a row of dashes follows.
  private mutating func addTable(_ header: Line) {
    // A header that begins with code or an HTML tag is that of a table for readers, such as a list of facts.
    guard let first = header.first(where: { $0 != 0x20 }), !"`~<".utf8.contains(first),
      header.contains(UInt8(ascii: "|")), count < lines.count, case .text = Self.block(lines[count]),
      Self.isDelimiter(lines[count])
    else { return }
    var table = MarkdownTable(
      headings: headings.map(\.text),
      header: MarkdownTable.Row(header, line: count),
      delimiter: MarkdownTable.Row(lines[count], line: count + 1),
      rows: []
    )
    count += 1
    while count < lines.count, case .text = Self.block(lines[count]) {
      if table.rows.count < MarkdownTable.maximumRowCount {
        table.rows.append(MarkdownTable.Row(lines[count], line: count + 1))
      } else {
        table.isCut = true
      }
      count += 1
    }
    tables.append(table)
  }

  private static func isDelimiter(_ line: Line) -> Bool {
    line.contains(UInt8(ascii: "|")) && line.contains(UInt8(ascii: "-"))
      && line.allSatisfy { "|-: \t".utf8.contains($0) }
  }
}
