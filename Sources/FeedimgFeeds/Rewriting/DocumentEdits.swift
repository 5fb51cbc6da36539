/// Replacements of parts of a document; all other bytes stay.
package struct DocumentEdits {
  private var edits: [(range: Range<Int>, text: String)] = []
  /// The length of all new texts, in bytes.
  private var length = 0

  /// The length limit of all new texts, in bytes: a short document could contain very many addresses.
  private static let longest = 16 << 20

  package init() {}

  /// Whether the new texts are too long; the document then stays, and more replacements have no effect.
  package var areTooLong: Bool { length > Self.longest }

  /// Replaces a range of bytes; of ranges that overlap, the first one in the document counts.
  package mutating func replace(_ range: Range<Int>, with text: String) {
    length += text.utf8.count
    if areTooLong { edits = [] } else { edits.append((range, text)) }
  }

  /// The document with all replacements; nil without any, and if they are too long.
  package func applied(to document: [UInt8]) -> [UInt8]? {
    guard !edits.isEmpty else { return nil }
    var (result, position) = ([UInt8](), 0)
    result.reserveCapacity(document.count + length)
    for edit in edits.sorted(by: { $0.range.lowerBound < $1.range.lowerBound })
    where edit.range.lowerBound >= position && edit.range.upperBound <= document.count {
      result += document[position..<edit.range.lowerBound]
      result += edit.text.utf8
      position = edit.range.upperBound
    }
    return result + document[position...]
  }
}
