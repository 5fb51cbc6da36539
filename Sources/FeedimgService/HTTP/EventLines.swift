/// Changes the data of server-sent events, line by line as they arrive.
struct EventLines: Sendable {
  /// The changed data; nil to keep it.
  private let change: @Sendable ([UInt8]) -> [UInt8]?
  /// The line so far.
  private var line: [UInt8] = []
  /// Whether the line is so long that its start has passed unchanged.
  private var isPassing = false

  /// The longest line to change, in bytes.
  private static let longestLine = 8 << 20

  init(_ change: @escaping @Sendable ([UInt8]) -> [UInt8]?) { self.change = change }

  /// Takes the next bytes, and returns all lines that are complete.
  mutating func take(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    var (result, rest) = ([UInt8](), bytes)
    while let end = rest.firstIndex(where: { $0 == 0x0A || $0 == 0x0D }) {
      line += rest[..<end]
      result += isPassing ? line : changedLine
      result.append(rest[end])
      (line, isPassing) = ([], false)
      rest = rest[(end + 1)...]
    }
    line += rest
    if isPassing || line.count > Self.longestLine {
      result += line
      (line, isPassing) = ([], true)
    }
    return result
  }

  /// The bytes after the last line break.
  mutating func end() -> [UInt8] {
    defer { line = [] }
    return line
  }

  private var changedLine: [UInt8] {
    let name = Array("data:".utf8)
    guard line.starts(with: name) else { return line }
    let start = line.count > name.count && line[name.count] == 0x20 ? name.count + 1 : name.count
    return change(Array(line[start...])).map { line[..<start] + $0 } ?? line
  }
}
