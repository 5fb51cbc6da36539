import FeedimgHTTPCache
package import FeedimgModel

/// The response to a client of `GET /v1/fetch`.
package struct FetchResponse: Sendable {
  package enum Body: Sendable {
    /// None, as the client requested the head alone; the length of the body if it is known.
    case absent(length: Int?)
    case whole([UInt8])
    /// The length is nil if the server does not announce it.
    case arriving(ResponseStream, length: Int?)
  }

  package let status: Int
  /// The server's fields without those of its connection and without `Content-Length`.
  package let fields: HTTPFields
  package let body: Body
  /// How the cache handled the request (RFC 9211).
  package let cacheStatus: String
  /// Whether this is the whole response, although the client may have sent a condition or a range.
  package let isWhole: Bool
  /// Stops the transfer for this client; to be called when the body has ended or is no longer read.
  package let leave: @Sendable () -> Void
}

/// Why the cache has no response.
package struct FetchError: Error, Sendable {
  /// The failure; nil if the client allowed no request to a server.
  package let cause: LoadError?
  /// Whether there is a stored response that must not be used without validation (RFC 9111 §5.2.2.2).
  package let hasStored: Bool
  /// How the cache handled the request (RFC 9211).
  package let cacheStatus: String
}

extension FetchResponse {
  /// A stored response, with its age now.
  init(_ hit: ResponseStore.Hit, to request: FetchRequest, at now: Double, cacheStatus: String) {
    self.init(
      status: hit.response.head.status,
      fields: hit.response.forwardedFields(at: now),
      body: request.isHead ? .absent(length: hit.bytes.count) : .whole(hit.bytes),
      cacheStatus: cacheStatus,
      isWhole: true,
      leave: {}
    )
  }
}
