import FeedimgHTTPCache
import FeedimgModel

/// A request with its whole body.
struct ServiceRequest: Sendable {
  var method: String
  var target: RequestTarget
  var fields = HTTPFields()
  var body: [UInt8] = []
  /// The item in the query, where it has been read already.
  var item: FeedItem?
  /// Whether the user asks for the original of the item, regardless of the policy.
  var asksForOriginal = false

  /// The field `Range`, which only `GET` respects (RFC 9110 §14.2).
  var range: String? { method == "GET" ? fields["Range"] : nil }
}

extension HTTPFields {
  /// The media type of the body in lower case and without parameters; nil if it is absent.
  var mediaType: String? { self["Content-Type"]?.prefix { $0 != ";" }.trimmed.lowercased() }
}
