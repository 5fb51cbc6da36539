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
  /// Splits a line at the unescaped `|`.
  ///
  /// A `|` at either end is ignored.
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
    // Count columns while splitting, so that a long line is read once.
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

  /// Whether a backslash precedes a byte.
  ///
  /// As on GitHub, an escaped backslash also counts.
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
