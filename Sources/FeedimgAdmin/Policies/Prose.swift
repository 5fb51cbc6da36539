import FeedimgJSON

/// What the author of a policy says about it beside the table.
enum Prose {
  /// The first paragraph of a Markdown text that is neither a heading nor a table, or the `description` of JSON.
  ///
  /// - Parameter text: The file of a policy.
  /// - Returns: One line; empty where the file begins with the table.
  static func firstParagraph(_ text: [UInt8]) -> String {
    if case .object(let object)? = try? JSONReader.value(in: text) {
      return line(object["description"]?.text ?? "")
    }
    var paragraph: [Substring] = []
    for line in String(decoding: text, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    {
      let words = line.drop { $0.isWhitespace }
      if words.isEmpty || words.hasPrefix("#") {
        if paragraph.isEmpty { continue }
        break
      }
      if words.hasPrefix("|") || words.hasPrefix("<!--") || words.hasPrefix("```") { break }
      paragraph.append(words)
    }
    return line(paragraph.joined(separator: " "))
  }

  /// In single spaces and without control characters, as it is shown in a list.
  private static func line(_ text: String) -> String {
    text.split { $0.isWhitespace || $0.isNewline }.joined(separator: " ")
      .filter { $0.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control } }
  }
}
