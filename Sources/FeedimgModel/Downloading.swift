/// One transfer to perform.
package struct DownloadRequest: Sendable, Hashable {
  /// The method (RFC 9110 §9.3).
  package enum Method: Sendable, Hashable {
    case get
    /// The head of the response alone.
    case head
    /// An action that the fields alone describe.
    case post
  }

  package var url: ImageURL
  package var method = Method.get
  /// The Unix socket of the server, which then is the same whatever the host; nil for the network.
  package var socket: String?
  /// Sent beside those of the downloader itself.
  package var fields: HTTPFields
  /// A longer body fails with ``LoadError/Code/tooLarge``.
  package var bodyLimit: ByteCount
  package var redirectLimit: Int
  /// Whether the transfer follows redirects; otherwise a redirect is the response.
  package var followsRedirects = true
  /// For name resolution, connection and handshake.
  package var connectTimeout: Duration
  /// From the request, once sent, to the first byte of the response.
  package var answerTimeout: Duration
  /// The longest silence within a response.
  package var stallTimeout: Duration
  /// For all of the transfer; nil for none.
  package var totalTimeout: Duration?
  /// The longest head, from its first byte, and the time over which a body must bring 100 bytes a second.
  ///
  /// 30 seconds, or the stall timeout where that is longer.
  package var paceTimeout: Duration

  package init(
    url: ImageURL,
    fields: HTTPFields = HTTPFields(),
    bodyLimit: ByteCount = .mebibytes(64),
    redirectLimit: Int = 5,
    connectTimeout: Duration = .seconds(10),
    answerTimeout: Duration = .seconds(20),
    stallTimeout: Duration = .seconds(20),
    totalTimeout: Duration? = nil
  ) {
    self.url = url
    self.fields = fields
    self.bodyLimit = bodyLimit
    self.redirectLimit = redirectLimit
    self.connectTimeout = connectTimeout
    self.answerTimeout = answerTimeout
    self.stallTimeout = stallTimeout
    self.totalTimeout = totalTimeout
    paceTimeout = max(.seconds(30), stallTimeout)
  }
}

/// The final response of a server, without its body.
package struct ResponseHead: Sendable, Hashable {
  package var status: Int
  package var fields: HTTPFields
  /// Where the response came from, after redirects.
  package var url: ImageURL
  /// The announced length of the body, where there is one.
  package var contentLength: Int?
  /// Whether only the body itself shows that it is whole.
  ///
  /// True where the close of the connection ends it (RFC 9112 §6.3, case 8), and for a decoded body, whose end libcurl
  /// does not check.
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

/// Takes the body of a transfer as it arrives.
///
/// Called on the transfer's own thread, in order, never at the same time; must not block for long. Throwing stops
/// the transfer, which then fails with the thrown error.
package protocol BodyReceiving: Sendable {
  /// Called by the scheduler before each request, so that the wait for a slot does not count as the response's time.
  ///
  /// Either more of a begun body follows, or a response from its head on.
  func requestBegins()
  /// Called before the first byte of the final response; redirects do not show.
  ///
  /// Where a transfer starts over it is called again: earlier bytes are void then.
  func begin(_ head: ResponseHead) throws(LoadError)
  func receive(_ bytes: UnsafeRawBufferPointer) throws(LoadError)
  /// Called for steps in between, which a receiver may ignore.
  func note(_ step: TransferStep)
}

extension BodyReceiving {
  package func note(_ step: TransferStep) {}
}

/// What happens in a transfer beside the head and body of the final response.
package enum TransferStep: Sendable, Hashable {
  /// A connection is there, and the request goes out on it.
  case requested
  /// A response redirects, and the transfer continues there.
  case redirected(ImageURL)
  /// So many bytes have come since the last such step: heads and bodies as they came over the network, also of
  /// redirects and of what is not delivered; without what TLS and TCP add.
  case moved(Int)
}

extension BodyReceiving {
  /// Does nothing, for receivers that measure no times.
  package func requestBegins() {}
}

/// Fetches over HTTP (a port).
package protocol Downloading: Sendable {
  /// Performs one transfer and returns when the whole body has been received.
  ///
  /// Any status reaches the receiver. Cancelling the task stops the transfer. The caller resumes on its own executor.
  ///
  /// - Throws: ``LoadError``, also when the receiver throws it; `cancelled` when the task was cancelled.
  func download(
    _ request: DownloadRequest,
    into receiver: any BodyReceiving
  ) async throws(LoadError) -> ResponseHead

  /// Stops later transfers from using present connections; call it when the network has changed.
  func forgetConnections()
}

extension Downloading {
  /// Does nothing, for downloaders without connections.
  package func forgetConnections() {}
}
