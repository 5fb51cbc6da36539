import FeedimgHTTPCache
package import FeedimgModel

/// A client's request to `GET /v1/fetch`.
package struct FetchRequest: Sendable {
  package let url: ImageURL
  /// Whether the client requests the head alone.
  package let isHead: Bool
  /// The fields that go on to the server.
  package let fields: HTTPFields
  package let priority: LoadPriority

  package init(_ url: ImageURL, isHead: Bool = false, fields: HTTPFields, priority: LoadPriority) {
    (self.url, self.isHead, self.priority) = (url, isHead, priority)
    var own = fields.storable.fields.filter { field in
      let name = field.name.lowercased()
      return !Self.meantForUs.contains(name) && !name.hasPrefix("sec-")
    }
    // Without this field a server may use any coding, and the client may not know it.
    if fields["Accept-Encoding"] == nil { own.append(.init(name: "Accept-Encoding", value: "identity")) }
    self.fields = HTTPFields(own)
  }

  /// Fields that are meant for the service, or that describe a page unknown to the server.
  private static let meantForUs: Set<String> = [
    "host", "content-length", "content-type", "expect", "origin", "referer", "priority",
    "access-control-request-method",
    "access-control-request-headers",
  ]

  /// The client's directives for caches; `Pragma` counts only without `Cache-Control` (RFC 9111 §5.4).
  var control: CacheControl { CacheControl(fields["Cache-Control"] ?? fields["Pragma"] ?? "") }

  /// Whether a stored response cannot serve the request (RFC 9110 §13.1.1, §13.1.4).
  var guardsChange: Bool { fields["If-Match"] != nil || fields["If-Unmodified-Since"] != nil }

  /// The fields of a request for the whole response, without the client's conditions and range.
  func whole(with conditions: HTTPFields = HTTPFields()) -> HTTPFields {
    HTTPFields(
      fields.fields.filter { !Self.selecting.contains($0.name.lowercased()) } + conditions.fields
    )
  }

  private static let selecting: Set<String> = ["range", "if-range", "if-none-match", "if-modified-since"]
}
