import FeedimgJSON

/// The text of a settings file, in which single members change while all other bytes stay.
///
/// People lay the file out by hand, and other versions keep members in it that this one does not know.
struct SettingsDocument {
  /// The reason why a text is not a settings file.
  enum Flaw: Error, Hashable, CustomStringConvertible {
    case notJSON(JSONError)
    case notAnObject(kind: String)

    /// Follows the path: `:line:column: message`.
    var description: String {
      switch self {
      case .notJSON(let error): ":\(error.line):\(error.column): \(error.message)"
      case .notAnObject(let kind): ":1:1: expected an object, found \(kind)"
      }
    }
  }

  /// A name, its value, and their places.
  private struct Member {
    var name: String
    var value: JSONValue
    var span: JSONSpan
  }

  private(set) var bytes: [UInt8]
  private var members: [Member]

  /// An object without members.
  init() {
    bytes = Array("{}\n".utf8)
    members = []
  }

  /// White space alone counts as an object without members.
  init(_ text: [UInt8]) throws(Flaw) {
    let isBlank = text.allSatisfy { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
    bytes = isBlank ? Array("{}\n".utf8) : text
    members = try Self.members(of: bytes)
  }

  /// The value of a name and its line, counted from one; of several with one name the last.
  func value(of name: String) -> (value: JSONValue, line: Int)? {
    guard let member = members.last(where: { $0.name == name }) else { return nil }
    return (member.value, bytes[..<member.span.value.lowerBound].count { $0 == 0x0A } + 1)
  }

  /// Replaces the value, or adds a member after the last one in the same layout.
  mutating func set(_ name: String, to value: JSONValue) {
    let text = Array(value.text(.compact).utf8)
    if let member = members.last(where: { $0.name == name }) {
      return edit(member.span.value, text)
    }
    let quoted = Array(JSONValue.string(name).text(.compact).utf8)
    guard let last = members.last?.span else {
      return edit(interior, Array("\n  ".utf8) + quoted + Array(": ".utf8) + text + Array("\n".utf8))
    }
    let lead = bytes[last.lead..<last.name.lowerBound]
    let colon = bytes[last.name.upperBound..<last.value.lowerBound]
    edit(last.value.upperBound..<last.value.upperBound, [UInt8(ascii: ",")] + lead + quoted + colon + text)
  }

  /// Removes all members of a name.
  ///
  /// - Returns: Whether there was one.
  @discardableResult mutating func remove(_ name: String) -> Bool {
    guard let index = members.lastIndex(where: { $0.name == name }) else { return false }
    let span = members[index].span
    if index > 0 {
      edit(members[index - 1].span.value.upperBound..<span.value.upperBound, [])
    } else if members.count > 1 {
      edit(span.name.lowerBound..<members[1].span.name.lowerBound, [])
    } else {
      edit(interior, [])
    }
    remove(name)
    return true
  }

  /// The value of a name as a document; nil if it is not an object.
  func document(of name: String) -> SettingsDocument? {
    guard let member = members.last(where: { $0.name == name }) else { return nil }
    return try? SettingsDocument(Array(bytes[member.span.value]))
  }

  /// Replaces the value of a name by a document, with its layout.
  mutating func set(_ name: String, to document: SettingsDocument) {
    guard let member = members.last(where: { $0.name == name }) else {
      return set(name, to: .object(JSONObject(document.members.map { ($0.name, $0.value) })))
    }
    edit(member.span.value, document.bytes)
  }

  /// Whether there are no members.
  var isEmpty: Bool { members.isEmpty }

  /// The names of all members in their order, each once.
  var names: [String] {
    var seen: Set<String> = []
    return members.map(\.name).filter { seen.insert($0).inserted }
  }

  /// Between the outer braces.
  private var interior: Range<Int> {
    let open = bytes.firstIndex(of: UInt8(ascii: "{")) ?? 0
    let close = bytes.lastIndex(of: UInt8(ascii: "}")) ?? bytes.count
    return open + 1..<close
  }

  private mutating func edit(_ range: Range<Int>, _ text: [UInt8]) {
    var edited = bytes
    edited.replaceSubrange(range, with: text)
    // JSON replaces JSON, so the whole is still JSON.
    guard let members = try? Self.members(of: edited) else {
      return assertionFailure("an edit broke the text")
    }
    (bytes, self.members) = (edited, members)
  }

  private static func members(of bytes: [UInt8]) throws(Flaw) -> [Member] {
    let value: JSONValue
    do throws(JSONError) { value = try JSONReader.value(in: bytes) } catch { throw .notJSON(error) }
    guard case .object(let object) = value else { throw .notAnObject(kind: value.kind) }
    return zip(object.members, JSONSpan.members(of: bytes)).map {
      Member(name: $0.name, value: $0.value, span: $1)
    }
  }
}

/// The place of one member of an object in a text, in offsets of bytes.
struct JSONSpan: Hashable {
  /// After the brace or comma before the member.
  var lead: Int
  /// With the quotes.
  var name: Range<Int>
  var value: Range<Int>

  /// The members of the outermost object, in order.
  ///
  /// - Parameter bytes: A valid object.
  static func members(of bytes: [UInt8]) -> [JSONSpan] {
    var spans: [JSONSpan] = []
    var depth = 0
    var lead = 0
    var name: Range<Int>?
    var valueStart: Int?
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      switch byte {
      case UInt8(ascii: "\""):
        let end = endOfString(in: bytes, from: index)
        if depth == 1, name == nil { name = index..<end }
        index = end
        continue
      case UInt8(ascii: ":") where depth == 1:
        valueStart = firstIndex(in: bytes, from: index + 1)
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        if depth == 1 { lead = index + 1 }
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        if depth == 0 { close(at: index) }
      case UInt8(ascii: ",") where depth == 1:
        close(at: index)
        lead = index + 1
      default:
        break
      }
      index += 1
    }
    return spans

    func close(at end: Int) {
      guard let found = name, let start = valueStart else { return }
      var last = end
      while last > start, isWhiteSpace(bytes[last - 1]) { last -= 1 }
      spans.append(JSONSpan(lead: lead, name: found, value: start..<last))
      (name, valueStart) = (nil, nil)
    }
  }

  private static func isWhiteSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

  private static func firstIndex(in bytes: [UInt8], from start: Int) -> Int {
    bytes[start...].firstIndex { !isWhiteSpace($0) } ?? bytes.count
  }

  /// After the closing quote of the string that opens at `start`.
  private static func endOfString(in bytes: [UInt8], from start: Int) -> Int {
    var index = start + 1
    while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
      index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
    }
    return min(index + 1, bytes.count)
  }
}
