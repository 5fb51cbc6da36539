/// The answer that brought a stored image, as far as its reuse is concerned (RFC 9111).
package struct StoredAnswer: Sendable, Hashable {
  package var head: ResponseHead
  /// The fields of the request that the answer's `Vary` names, as they were sent.
  package var varied: HTTPFields
  /// When its request was sent, in seconds since 1970.
  package var requestedAt: Double
  /// When its head came, in seconds since 1970.
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
