/// Bytes as a kernel sent them, written as hexadecimal digits with comments.
package struct Recording: CustomStringConvertible, Sendable {
  package let bytes: [UInt8]
  /// The first line of the text.
  package let description: String

  /// - Parameter text: Two digits per byte. Spaces, and text after `#` on a line, are ignored.
  package init(_ text: String) {
    var digits: [UInt8] = []
    for line in text.split(separator: "\n") {
      digits += line.prefix { $0 != "#" }.compactMap { $0.hexDigitValue.map(UInt8.init) }
    }
    bytes = stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    description = String(text.prefix { $0 != "\n" })
  }
}
