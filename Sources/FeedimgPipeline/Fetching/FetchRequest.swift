import FeedimgCache
package import FeedimgModel

/// What a client asks the cache of answers for.
package struct FetchRequest: Sendable {
  package let url: ImageURL
  /// Whether the head alone is wanted.
  package let isHead: Bool
  /// What is sent on to the server, if it is asked at all.
  package let fields: HTTPFields
  package let priority: LoadPriority

  /// - Parameters:
  ///   - url: What is asked for.
  ///   - isHead: Whether the method is `HEAD`.
  ///   - fields: All that the client sent.
  ///   - priority: How urgent it is.
  package init(_ url: ImageURL, isHead: Bool = false, fields: HTTPFields, priority: LoadPriority) {
    (self.url, self.isHead, self.priority) = (url, isHead, priority)
    var own = fields.storable.fields.filter { field in
      let name = field.name.lowercased()
      return !Self.meantForUs.contains(name) && !name.hasPrefix("sec-")
    }
    // Without a word of it servers may choose any coding; the client has not said that it knows one.
    if fields["Accept-Encoding"] == nil { own.append(.init(name: "Accept-Encoding", value: "identity")) }
    self.fields = HTTPFields(own)
  }

  /// What a client says to the service itself, or of a page that the server has nothing to do with.
  private static let meantForUs: Set<String> = [
    "host", "content-length", "content-type", "expect", "origin", "referer", "priority",
    "access-control-request-method",
    "access-control-request-headers",
  ]

  /// What the client says of caches; `Pragma` counts where there is nothing else (RFC 9111 §5.4).
  var control: CacheControl { CacheControl(fields["Cache-Control"] ?? fields["Pragma"] ?? "") }

  /// Whether the client wants the answer to depend on what it has: its server alone can tell then.
  var isConditional: Bool { fields["If-None-Match"] != nil || fields["If-Modified-Since"] != nil }

  /// Whether a stored answer cannot serve it (RFC 9110 §13.1.1, §13.1.4).
  var guardsChange: Bool { fields["If-Match"] != nil || fields["If-Unmodified-Since"] != nil }

  /// The request for all of it, whatever the client has or wants of it.
  func whole(asking question: HTTPFields = HTTPFields()) -> HTTPFields {
    HTTPFields(
      fields.fields.filter { !Self.selecting.contains($0.name.lowercased()) } + question.fields
    )
  }

  private static let selecting: Set<String> = ["range", "if-range", "if-none-match", "if-modified-since"]
}
