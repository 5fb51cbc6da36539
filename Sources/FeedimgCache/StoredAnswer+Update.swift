package import FeedimgModel

extension StoredAnswer {
  /// The answer with the news of a 304: what it says replaces what was said, and its time counts (RFC 9111 §4.3.4).
  ///
  /// - Parameter news: What the 304 said, and when.
  /// - Returns: What to keep beside the old body.
  package func updated(by news: StoredAnswer) -> StoredAnswer {
    let fields = news.head.fields.storable.fields.filter { !Self.bound.contains($0.name.lowercased()) }
    let replaced = Set(fields.map { $0.name.lowercased() })
    var head = head
    // An age that was told with the old answer says nothing of the new one (§4.2.3).
    head.fields.fields.removeAll { replaced.contains($0.name.lowercased()) || $0.name.lowercased() == "age" }
    head.fields.fields += fields
    return StoredAnswer(
      head: head,
      varied: varied,
      requestedAt: news.requestedAt,
      respondedAt: news.respondedAt
    )
  }

  /// Fields that describe the bytes that are stored, which a 304 does not bring (RFC 9111 §3.2).
  private static let bound: Set<String> = [
    "content-length", "content-encoding", "content-type", "content-range",
  ]
}

extension HTTPFields {
  /// Those that may be kept: none that belong to one connection or message (RFC 9111 §3.1).
  package var storable: HTTPFields {
    let connection = self["Connection"] ?? ""
    // What nearly all say adds nothing.
    let listed =
      connection == "keep-alive" || connection == "close"
      ? [] : connection.split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" } }
    return HTTPFields(
      fields.filter { field in
        // Nearly all others are told from them by their length.
        let mayBe = Self.connectionLengths >> UInt64(field.name.utf8.count) & 1 == 1
        if mayBe, Self.connectionFields.contains(where: { field.isNamed($0) }) { return false }
        return !listed.contains { field.isNamed($0) }
      }
    )
  }

  /// RFC 9110 §7.6.1 and RFC 9111 §3.1.
  private static let connectionFields = [
    "connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
  ]

  /// The lengths of these names, a bit each.
  private static let connectionLengths = connectionFields.reduce(UInt64(0)) {
    $0 | 1 << UInt64($1.utf8.count)
  }
}
