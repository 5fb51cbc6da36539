import FeedimgJSON

/// The content of a settings file.
///
/// A change keeps the members of other versions, the order of all members and the spelling of numbers.
struct SettingsDocument {
  var object = JSONObject()
  /// Whether the text that was read is only white space.
  private(set) var isBlank = true
  /// The text that was read.
  private var source: [UInt8] = []

  /// An object without members.
  init() {}

  /// Parses a text.
  ///
  /// White space alone counts as an object without members.
  ///
  /// - Throws: ``JSONError`` for a text that is not an object.
  init(_ text: [UInt8]) throws(JSONError) {
    source = text
    if text.allSatisfy({ [0x20, 0x09, 0x0A, 0x0D].contains($0) }) { return }
    isBlank = false
    let value = try JSONReader.value(in: text)
    guard case .object(let object) = value else {
      throw JSONError(line: 1, column: 1, message: "expected an object, found \(value.kind)")
    }
    self.object = object
  }

  /// The text to write.
  var text: [UInt8] { Array((JSONValue.object(object).text(.indented) + "\n").utf8) }

  /// The line of the value in nested members, in the text that was read, counted from one.
  func line(of path: String...) -> Int {
    var node = try? JSONNode.read(source)
    for name in path { node = node?[name] }
    return source.prefix(node?.range.lowerBound ?? 0).count { $0 == 0x0A } + 1
  }
}
