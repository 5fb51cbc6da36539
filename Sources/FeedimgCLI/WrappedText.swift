/// Wraps text at spaces.
enum WrappedText {
  /// The text in lines of at most `width` characters; only longer words exceed it.
  ///
  /// - Parameters:
  ///   - text: Text without line feeds; text that fits is returned unchanged.
  ///   - width: The most characters of a line.
  ///   - indent: The start of every line but the first.
  /// - Returns: At least one line.
  static func lines(_ text: String, width: Int, indent: String = "") -> [String] {
    guard text.count > width else { return [text] }
    var lines: [String] = []
    var line = String(text.prefix { $0 == " " })
    var isFresh = true
    for word in text.split(separator: " ") {
      if !isFresh, line.count + 1 + word.count > width {
        lines.append(line)
        line = indent
        isFresh = true
      }
      if !isFresh { line += " " }
      line += word
      isFresh = false
    }
    return lines + [line]
  }

  /// The length of the longest word, in characters.
  static func longestWord(_ text: String) -> Int {
    text.split(separator: " ").reduce(0) { max($0, $1.count) }
  }
}
