/// Replacements of parts of a document; all other bytes stay.
package struct DocumentEdits {
  private var edits: [(range: Range<Int>, text: String)] = []

  package init() {}

  /// Replaces a range of bytes; of ranges that overlap, the first one in the document counts.
  package mutating func replace(_ range: Range<Int>, with text: String) { edits.append((range, text)) }

  /// The document with all replacements; nil without any.
  package func applied(to document: [UInt8]) -> [UInt8]? {
    guard !edits.isEmpty else { return nil }
    var (result, position) = ([UInt8](), 0)
    result.reserveCapacity(document.count + edits.reduce(0) { $0 + $1.text.utf8.count })
    for edit in edits.sorted(by: { $0.range.lowerBound < $1.range.lowerBound })
    where edit.range.lowerBound >= position && edit.range.upperBound <= document.count {
      result += document[position..<edit.range.lowerBound]
      result += edit.text.utf8
      position = edit.range.upperBound
    }
    return result + document[position...]
  }
}
