import FeedimgJSON
import FeedimgModel
import FeedimgPolicy

/// A line of JSON about a decision, with holes for what each item tells for itself.
struct LineForm {
  /// What fills a hole.
  private enum Hole {
    case id
    case url
    case why
    case placeholder
    case size
    case end
  }

  /// Text, and what follows it.
  private struct Part {
    let start: Int
    let end: Int
    let hole: Hole
  }

  private var text: [UInt8] = []
  private var parts: [Part] = []
  /// The variant that the URL is of.
  private let role: ImageVariant.Role?

  /// Takes the form of a decision about one item.
  ///
  /// - Parameters:
  ///   - resolution: The decision.
  ///   - tellsSize: Whether the reason is not the same for all items of this form.
  init(_ resolution: Resolution, tellsSize: Bool) {
    role = resolution.decision.image.role
    guard case .object(let object) = resolution.jsonValue else { return }
    text += "{".utf8
    cut(for: .id)
    var separator = ""
    for member in object.members where member.name != "id" {
      text += "\(separator)\(JSONValue.string(member.name).text(.compact)):".utf8
      separator = ","
      switch member.name {
      case "url" where role != nil: cut(for: .url)
      case "why" where tellsSize: cut(for: .why)
      case "placeholder": cut(for: .placeholder)
      case "facts": append(facts: member.value, hasSize: resolution.situation.size != nil)
      default: text += member.value.text(.compact).utf8
      }
    }
    text += "}\n".utf8
    cut(for: .end)
  }

  private mutating func cut(for hole: Hole) {
    parts.append(Part(start: parts.last?.end ?? 0, end: text.count, hole: hole))
  }

  private mutating func append(facts: JSONValue, hasSize: Bool) {
    guard hasSize, case .object(let facts) = facts else {
      text += facts.text(.compact).utf8
      return
    }
    var separator = "{"
    for fact in facts.members {
      text += "\(separator)\(JSONValue.string(fact.name).text(.compact)):".utf8
      separator = ","
      guard fact.name == Fact.size.name, case .object(let reading) = fact.value else {
        text += fact.value.text(.compact).utf8
        continue
      }
      text += "{\"value\":".utf8
      cut(for: .size)
      text += ",\"source\":\((reading["source"] ?? .null).text(.compact))}".utf8
    }
    text += "}".utf8
  }

  /// Adds the line about an item of this form.
  ///
  /// - Parameters:
  ///   - item: What is decided about.
  ///   - bytes: What the item stands in.
  ///   - output: What the line is added to.
  ///   - size: The size that was decided on.
  ///   - why: The reason, where it is not the same for all.
  func append(
    _ item: ScannedItem,
    in bytes: UnsafeBufferPointer<UInt8>,
    to output: inout [UInt8],
    size: ByteCount?,
    why: () -> String
  ) {
    append(to: &output, size: size, why: why) { hole, output in
      switch hole {
      case .id: Self.append("\"id\":", item.id, ",", in: bytes, to: &output)
      case .url:
        // It may be given that there is a variant which the item does not tell of.
        guard let role, item[role].isThere else {
          output += "null".utf8
          return
        }
        Self.append("", item[role], "", in: bytes, to: &output)
      case .placeholder: Self.append(placeholder: item, in: bytes, to: &output)
      case .why, .size, .end: break
      }
    }
  }

  /// Adds the line about an item of this form that was read whole.
  func append(_ item: FeedItem, to output: inout [UInt8], size: ByteCount?, why: () -> String) {
    append(to: &output, size: size, why: why) { hole, output in
      switch hole {
      case .id:
        if let id = item.id { output += "\"id\":\(JSONValue.string(id).text(.compact)),".utf8 }
      case .url: output += JSONValue.optional(role.flatMap { item[$0]?.url.text }).text(.compact).utf8
      case .placeholder: output += item.placeholder.jsonValue.text(.compact).utf8
      case .why, .size, .end: break
      }
    }
  }

  /// Adds a line, of which the last closure adds what an item tells for itself.
  @inline(__always)
  private func append(
    to output: inout [UInt8],
    size: ByteCount?,
    why: () -> String,
    _ fill: (Hole, inout [UInt8]) -> Void
  ) {
    text.withUnsafeBufferPointer { text in
      for part in parts {
        output.append(contentsOf: UnsafeBufferPointer(rebasing: text[part.start..<part.end]))
        switch part.hole {
        case .why: output += JSONValue.string(why()).text(.compact).utf8
        case .size: output += "\"\(size.map { QuantityUnit.bytes.text($0.bytes) } ?? "unknown")\"".utf8
        case .id, .url, .placeholder, .end: fill(part.hole, &output)
        }
      }
    }
  }

  /// Adds a string that stands in the bytes, if there is one.
  @inline(__always)
  private static func append(
    _ before: StaticString,
    _ span: ScannedItem.Span,
    _ after: StaticString,
    in bytes: UnsafeBufferPointer<UInt8>,
    to output: inout [UInt8]
  ) {
    guard span.isThere else { return }
    before.withUTF8Buffer { output.append(contentsOf: $0) }
    output.append(UInt8(ascii: "\""))
    output.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[span.range]))
    output.append(UInt8(ascii: "\""))
    after.withUTF8Buffer { output.append(contentsOf: $0) }
  }

  private static func append(
    placeholder item: ScannedItem,
    in bytes: UnsafeBufferPointer<UInt8>,
    to output: inout [UInt8]
  ) {
    let (second, third) = (item.thumbHash.isThere || item.color.isThere, item.color.isThere)
    output.append(UInt8(ascii: "{"))
    append("\"blurhash\":", item.blurHash, second ? "," : "", in: bytes, to: &output)
    append("\"thumbhash\":", item.thumbHash, third ? "," : "", in: bytes, to: &output)
    append("\"color\":", item.color, "", in: bytes, to: &output)
    output.append(UInt8(ascii: "}"))
  }
}
