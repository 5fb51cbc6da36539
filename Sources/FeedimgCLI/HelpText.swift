/// Help as it is printed: sentences wrap at the width, and examples stay whole, so that they can be copied.
enum HelpText {
  /// The column at which the parser writes what an option does.
  private static let column = 26
  private static let listTitles = ["ARGUMENTS:", "OPTIONS:", "SUBCOMMANDS:"]

  /// - Parameters:
  ///   - text: Help that is not wrapped; other text stays as it is.
  ///   - width: The characters that a line may take.
  /// - Returns: The same text in lines that fit, but for examples.
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
