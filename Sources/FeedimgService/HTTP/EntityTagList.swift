/// The tags in a field such as `If-None-Match` (RFC 9110 §8.8.3, §13.1.2).
struct EntityTagList: Sendable, Hashable {
  /// Whether any tag is meant.
  let isAny: Bool
  /// With their quotes, and with `W/` where they are weak.
  private let tags: [Substring]

  /// Reads a list; commas within quotes are of the tag.
  init(_ field: String) {
    isAny = field.trimmed == "*"
    var tags: [Substring] = []
    var (start, isQuoted) = (field.startIndex, false)
    for index in field.indices {
      if field[index] == "\"" { isQuoted.toggle() }
      guard field[index] == ",", !isQuoted else { continue }
      tags.append(field[start..<index].trimmed)
      start = field.index(after: index)
    }
    tags.append(field[start...].trimmed)
    self.tags = tags
  }

  /// Whether a tag is named, or any; weakness is of no account (§8.8.3.2).
  func names(_ tag: String) -> Bool {
    isAny || tags.contains { Self.opaque($0) == Self.opaque(tag[...]) }
  }

  /// Whether a tag is named, and both are strong, or any.
  func namesStrongly(_ tag: String) -> Bool { isAny || !tag.hasPrefix("W/") && tags.contains { $0 == tag } }

  private static func opaque(_ tag: Substring) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag }
}
