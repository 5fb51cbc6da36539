/// Wraps help texts at the width of the terminal, except for examples.
enum HelpText {
  /// The column at which the parser writes the description of an option.
  private static let column = 26
  private static let listTitles = ["ARGUMENTS:", "OPTIONS:", "SUBCOMMANDS:"]

  /// Text other than help is returned unchanged.
  static func wrapped(_ text: String, width: Int) -> String {
    guard text.hasPrefix("OVERVIEW:") else { return text }
    var isList = false
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line -> String in
      isList = isList || listTitles.contains(String(line))
      if isList {
        let help = WrappedText.lines(String(line.dropFirst(column)), width: max(20, width - column))
        return line.prefix(column)
          + help.joined(separator: "\n" + String(repeating: " ", count: column))
      }
      return line.hasPrefix("  ") || line.hasPrefix("USAGE:")
        ? String(line) : WrappedText.lines(String(line), width: width).joined(separator: "\n")
    }
    return lines.joined(separator: "\n")
  }
}

/// Wraps text at spaces.
enum WrappedText {
  /// The text in lines of at most `width` characters; only longer words exceed it.
  ///
  /// Every line but the first starts with the indent. The text must have no line feeds.
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
