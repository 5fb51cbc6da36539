import FeedimgJSON

/// The text of a settings file.
///
/// Changing a member keeps all other bytes.
///
/// Users format the file by hand, and other versions store members that this version does not know.
struct SettingsDocument {
  /// The reason why a text is not a settings file.
  enum SyntaxError: Error, Hashable, CustomStringConvertible {
    case notJSON(JSONError)
    case notAnObject(kind: String)

    /// The message, to follow the path: `:line:column: message`.
    var description: String {
      switch self {
      case .notJSON(let error): ":\(error.line):\(error.column): \(error.message)"
      case .notAnObject(let kind): ":1:1: expected an object, found \(kind)"
      }
    }
  }

  private(set) var bytes: [UInt8]
  private var members: [JSONNode.Member]

  /// An object without members.
  init() {
    bytes = Array("{}\n".utf8)
    members = []
  }

  /// Parses a text.
  ///
  /// White space alone counts as an object without members.
  init(_ text: [UInt8]) throws(SyntaxError) {
    let isBlank = text.allSatisfy { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
    bytes = isBlank ? Array("{}\n".utf8) : text
    members = try Self.members(of: bytes)
  }

  /// The value of a name and its line, counted from one; the last one if the name occurs several times.
  func value(of name: String) -> (value: JSONValue, line: Int)? {
    guard let range = members.last(where: { $0.name == name })?.value.range,
      let value = try? JSONReader.value(in: bytes[range])
    else { return nil }
    return (value, bytes[..<range.lowerBound].count { $0 == 0x0A } + 1)
  }

  /// Replaces a value, or adds a member after the last one with the same formatting.
  mutating func set(_ name: String, to value: JSONValue) {
    let text = Array(value.text(.compact).utf8)
    if let member = members.last(where: { $0.name == name }) {
      return edit(member.value.range, text)
    }
    let quoted = Array(JSONValue.string(name).text(.compact).utf8)
    guard let last = members.last else {
      return edit(interior, Array("\n  ".utf8) + quoted + Array(": ".utf8) + text + Array("\n".utf8))
    }
    let before = bytes[..<last.nameRange.lowerBound]
    let lead = before[((before.lastIndex { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } ?? 0) + 1)...]
    let colon = bytes[last.nameRange.upperBound..<last.value.range.lowerBound]
    edit(
      last.value.range.upperBound..<last.value.range.upperBound,
      [UInt8(ascii: ",")] + lead + quoted + colon + text
    )
  }

  /// Removes all members with a name.
  ///
  /// - Returns: Whether there was one.
  @discardableResult mutating func remove(_ name: String) -> Bool {
    guard let index = members.lastIndex(where: { $0.name == name }) else { return false }
    let member = members[index]
    if index > 0 {
      edit(members[index - 1].value.range.upperBound..<member.value.range.upperBound, [])
    } else if members.count > 1 {
      edit(member.nameRange.lowerBound..<members[1].nameRange.lowerBound, [])
    } else {
      edit(interior, [])
    }
    remove(name)
    return true
  }

  /// The value of a name as a document; nil if it is not an object.
  func document(of name: String) -> SettingsDocument? {
    guard let member = members.last(where: { $0.name == name }) else { return nil }
    return try? SettingsDocument(Array(bytes[member.value.range]))
  }

  /// Replaces the value of a name by a document, with its formatting.
  mutating func set(_ name: String, to document: SettingsDocument) {
    guard let member = members.last(where: { $0.name == name }) else {
      return set(name, to: (try? JSONReader.value(in: document.bytes)) ?? [:])
    }
    edit(member.value.range, document.bytes)
  }

  /// Whether there are no members.
  var isEmpty: Bool { members.isEmpty }

  /// The names of all members in order, each once.
  var names: [String] {
    var seen: Set<String> = []
    return members.map(\.name).filter { seen.insert($0).inserted }
  }

  /// The range between the outer braces.
  private var interior: Range<Int> {
    let open = bytes.firstIndex(of: UInt8(ascii: "{")) ?? 0
    let close = bytes.lastIndex(of: UInt8(ascii: "}")) ?? bytes.count
    return open + 1..<close
  }

  private mutating func edit(_ range: Range<Int>, _ text: [UInt8]) {
    var edited = bytes
    edited.replaceSubrange(range, with: text)
    // Valid JSON replaced valid JSON, so the text is still valid.
    guard let members = try? Self.members(of: edited) else {
      return assertionFailure("an edit broke the text")
    }
    (bytes, self.members) = (edited, members)
  }

  private static func members(of bytes: [UInt8]) throws(SyntaxError) -> [JSONNode.Member] {
    let kind: String
    do throws(JSONError) {
      if case .object(let members) = try JSONNode.read(bytes).content { return members }
      kind = try JSONReader.value(in: bytes).kind
    } catch {
      throw .notJSON(error)
    }
    throw .notAnObject(kind: kind)
  }
}
