/// The entity tags in a field such as `If-None-Match` (RFC 9110 §8.8.3, §13.1.2).
struct EntityTagList: Sendable, Hashable {
  /// Whether the field is `*`.
  let isAny: Bool
  /// The tags with their quotes, and with `W/` where they are weak.
  private let tags: [Substring]

  /// Reads a list; a comma within quotes is part of the tag.
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

  /// Whether the list contains a tag by weak comparison (§8.8.3.2), or is `*`.
  func contains(_ tag: String) -> Bool {
    isAny || tags.contains { Self.opaque($0) == Self.opaque(tag[...]) }
  }

  /// Whether the list contains a tag by strong comparison (§8.8.3.2), or is `*`.
  func containsStrongly(_ tag: String) -> Bool {
    isAny || !tag.hasPrefix("W/") && tags.contains { $0 == tag }
  }

  private static func opaque(_ tag: Substring) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag }
}
