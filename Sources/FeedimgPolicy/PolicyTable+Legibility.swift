import FeedimgJSON

extension PolicyTable {
  /// Whether a file holds anything that can be read as a policy: JSON, or a text with a table.
  ///
  /// What it says may still be full of slips; only what is not even legible cannot be pointed at.
  ///
  /// - Parameters:
  ///   - fileName: JSON if it ends in `.json`, else Markdown.
  ///   - text: The file's bytes.
  /// - Returns: False for what is empty or not UTF-8, too.
  package static func isLegible(fileName: String, text: [UInt8]) -> Bool {
    if fileName.hasSuffix(".json") { return (try? JSONReader.value(in: text)) != nil }
    return (try? MarkdownTable.tables(in: text, file: fileName))?.isEmpty == false
  }
}
