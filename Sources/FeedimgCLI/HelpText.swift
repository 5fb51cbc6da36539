/// Wraps help texts at the width of the terminal, except for examples.
enum HelpText {
  /// The column at which the parser writes the description of an option.
  private static let column = 26
  private static let listTitles = ["ARGUMENTS:", "OPTIONS:", "SUBCOMMANDS:"]

  /// - Parameters:
  ///   - text: Unwrapped help; other text is returned unchanged.
  ///   - width: The most characters of a line.
  /// - Returns: The help with line breaks.
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
