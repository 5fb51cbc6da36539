/// The stored response of an image, for its reuse (RFC 9111).
package struct StoredAnswer: Sendable, Hashable {
  package var head: ResponseHead
  /// The sent request fields that the response's `Vary` names.
  package var varied: HTTPFields
  /// When the request was sent, in seconds since 1970.
  package var requestedAt: Double
  /// When the head arrived, in seconds since 1970.
  package var respondedAt: Double

  package init(
    head: ResponseHead,
    varied: HTTPFields = HTTPFields(),
    requestedAt: Double,
    respondedAt: Double
  ) {
    self.head = head
    self.varied = varied
    self.requestedAt = requestedAt
    self.respondedAt = respondedAt
  }
}
