package import FeedimgModel

extension StoredAnswer {
  /// The answer with the news of a 304: what it says replaces what was said, and its time counts (RFC 9111 §4.3.4).
  ///
  /// - Parameters:
  ///   - fields: Those of the answer 304.
  ///   - requestedAt: When it was asked, in seconds since 1970.
  ///   - respondedAt: When it was answered, in seconds since 1970.
  /// - Returns: What to keep beside the old body.
  package func updated(by fields: HTTPFields, requestedAt: Double, respondedAt: Double) -> StoredAnswer {
    let news = fields.storable.fields.filter { !Self.bound.contains($0.name.lowercased()) }
    let replaced = Set(news.map { $0.name.lowercased() })
    var head = head
    // An age that was told with the old answer says nothing of the new one (§4.2.3).
    head.fields.fields.removeAll { replaced.contains($0.name.lowercased()) || $0.name.lowercased() == "age" }
    head.fields.fields += news
    return StoredAnswer(head: head, varied: varied, requestedAt: requestedAt, respondedAt: respondedAt)
  }

  /// Fields that describe the bytes that are stored, which a 304 does not bring (RFC 9111 §3.2).
  private static let bound: Set<String> = [
    "content-length", "content-encoding", "content-type", "content-range",
  ]
}

extension HTTPFields {
  /// Those that may be kept: none that belong to one connection or message (RFC 9111 §3.1).
  package var storable: HTTPFields {
    let listed = (self["Connection"] ?? "").split(separator: ",").map {
      $0.filter { $0 != " " && $0 != "\t" }.lowercased()
    }
    return HTTPFields(
      fields.filter {
        let name = $0.name.lowercased()
        return !Self.connectionFields.contains(name) && !listed.contains(name)
      }
    )
  }

  /// RFC 9110 §7.6.1 and RFC 9111 §3.1.
  private static let connectionFields: Set<String> = [
    "connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
  ]
}
