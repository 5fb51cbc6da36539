/// One transfer to perform.
package struct DownloadRequest: Sendable, Hashable {
  /// The method (RFC 9110 §9.3).
  package struct Method: Sendable, Hashable {
    package var name: String
    /// The body of the request, which may be empty; nil for none.
    package var body: [UInt8]?

    package static let get = Method(name: "GET")
    package static let head = Method(name: "HEAD")
    /// A POST with an empty body; the header fields describe the action.
    package static let post = Method(name: "POST", body: [])

    package init(name: String, body: [UInt8]? = nil) {
      self.name = name
      self.body = body
    }

    /// Whether the response has no body, only the head that a GET would return.
    package var isHead: Bool { self == .head }
  }

  package var url: ImageURL
  package var method = Method.get
  /// The path of the server's Unix socket, used for every host; nil to connect over the network.
  package var socket: String?
  /// Sent in addition to the downloader's own fields.
  package var fields: HTTPFields
  /// Sent only to the origin of ``url``, in place of other fields of the same names.
  package var boundFields = HTTPFields()
  /// A longer body fails with ``LoadError/Code/tooLarge``.
  package var bodyLimit: ByteCount
  package var redirectLimit: Int
  /// Whether the transfer follows redirects; otherwise a redirect is the final response.
  package var followsRedirects = true
  /// Whether the server may send any content coding that the downloader can decode; otherwise none.
  package var acceptsCodings = false
  /// The time limit for name resolution, connection and handshake.
  package var connectTimeout: Duration
  /// The time limit from the sent request to the first byte of the response.
  package var responseTimeout: Duration
  /// The longest pause within a response.
  package var stallTimeout: Duration
  /// The time limit for the whole transfer; nil for none.
  package var totalTimeout: Duration?

  package init(
    url: ImageURL,
    fields: HTTPFields = HTTPFields(),
    bodyLimit: ByteCount = .mebibytes(64),
    redirectLimit: Int = 5,
    connectTimeout: Duration = .seconds(10),
    responseTimeout: Duration = .seconds(20),
    stallTimeout: Duration = .seconds(20),
    totalTimeout: Duration? = nil
  ) {
    self.url = url
    self.fields = fields
    self.bodyLimit = bodyLimit
    self.redirectLimit = redirectLimit
    self.connectTimeout = connectTimeout
    self.responseTimeout = responseTimeout
    self.stallTimeout = stallTimeout
    self.totalTimeout = totalTimeout
  }
}

/// The final response of a server, without its body.
package struct ResponseHead: Sendable, Hashable {
  package var status: Int
  package var fields: HTTPFields
  /// The URL of the response, after redirects.
  package var url: ImageURL
  /// The length of the body, if the server announced it.
  package var contentLength: Int?
  /// Whether only the body itself shows that it is complete.
  ///
  /// True if closing the connection ends the body (RFC 9112 §6.3, case 8). Also true for a decoded body,
  /// because libcurl does not check its end.
  package var endsByClosing: Bool

  package init(
    status: Int,
    fields: HTTPFields,
    url: ImageURL,
    contentLength: Int? = nil,
    endsByClosing: Bool = false
  ) {
    self.status = status
    self.fields = fields
    self.url = url
    self.contentLength = contentLength
    self.endsByClosing = endsByClosing
  }
}

/// Receives the body of a transfer as it arrives.
///
/// The transfer's thread makes the calls, in order and one at a time. They must not block for long. An error
/// thrown here stops the transfer, which then fails with that error.
package protocol BodyReceiving: Sendable {
  /// Called before the first byte of the final response, not for redirects.
  ///
  /// Called again when the transfer starts over; the receiver then discards earlier bytes.
  func begin(_ head: ResponseHead) throws(LoadError)
  func receive(_ bytes: UnsafeRawBufferPointer) throws(LoadError)
  /// Called for intermediate steps, which a receiver may ignore.
  func note(_ step: TransferStep)
}

extension BodyReceiving {
  package func note(_ step: TransferStep) {}
}

/// A step of a transfer besides the head and body of the final response.
package enum TransferStep: Sendable, Hashable {
  /// The connection is open and the request is sent.
  case requested
  /// A response redirects the transfer to another URL.
  case redirected(ImageURL)
  /// The number of bytes received since the previous `moved` step.
  ///
  /// Includes heads, bodies, redirects and discarded data as they came over the network; excludes TCP overhead.
  /// TLS overhead counts only in the last step of an HTTP/1.1 transfer that this side stops.
  case moved(Int)
}

/// Fetches over HTTP (a port).
package protocol Downloading: Sendable {
  /// Performs one transfer and returns after the whole body has arrived.
  ///
  /// The receiver gets responses of any status. Cancelling the task stops the transfer. The call returns on
  /// the caller's executor.
  ///
  /// - Throws: ``LoadError``, including errors that the receiver throws; `cancelled` if the task was
  ///   cancelled.
  func download(
    _ request: DownloadRequest,
    into receiver: any BodyReceiving
  ) async throws(LoadError) -> ResponseHead

  /// Connects to the server of a URL for another protocol than HTTP, such as WebSocket.
  ///
  /// The path is ignored; `https` stands for TLS.
  ///
  /// - Returns: A local stream socket, which the caller closes. Its other end leads to the server.
  /// - Throws: ``LoadError`` if there is no connection.
  func connect(to url: ImageURL, within limit: Duration) async throws(LoadError) -> Int32

  /// Prevents later transfers from using open connections. Call it after a change of the network.
  func forgetConnections()
}

extension Downloading {
  /// Has no connections.
  package func connect(to url: ImageURL, within limit: Duration) async throws(LoadError) -> Int32 {
    throw LoadError(.unavailable, url: url, message: "only HTTP is available")
  }

  /// Does nothing.
  package func forgetConnections() {}
}
