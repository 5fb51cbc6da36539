/// One transfer to perform.
package struct DownloadRequest: Sendable, Hashable {
  /// What is asked for (RFC 9110 §9.3).
  package enum Method: Sendable, Hashable {
    case get
    /// The head of the answer alone.
    case head
    /// That something is done, of which the fields tell all.
    case post
  }

  package var url: ImageURL
  package var method = Method.get
  /// The Unix socket of the server, which then is the same whatever the host; nil for the network.
  package var socket: String?
  /// Sent beside those of the downloader itself.
  package var fields: HTTPFields
  /// A longer body is given up with ``LoadError/Code/tooLarge``.
  package var bodyLimit: ByteCount
  package var redirectLimit: Int
  /// Whether an answer that names another place leads there, or is the answer.
  package var followsRedirects = true
  /// To name resolution, connection and handshake.
  package var connectTimeout: Duration
  /// From the request, once sent, to the first byte of the answer.
  package var answerTimeout: Duration
  /// Without a byte of a begun answer for so long, the transfer is given up.
  package var stallTimeout: Duration
  /// For all of the transfer; nil for none.
  package var totalTimeout: Duration?
  /// For the head from its first byte, and the time over which a body must keep a least rate of some bytes a second.
  package var paceTimeout = Duration.seconds(30)

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
  }
}

/// The final answer of a server, without its body.
package struct ResponseHead: Sendable, Hashable {
  package var status: Int
  package var fields: HTTPFields
  /// Where the answer came from, after redirects.
  package var url: ImageURL
  /// The announced length of the body, where there is one.
  package var contentLength: Int?
  /// Whether only the closing of the connection marks the end of the body (RFC 9112 §6.3, case 8), or that of a content
  /// coding, which is not looked for: whether the body is whole is to be seen from itself alone.
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
  /// Called by who waits for a place before each request goes out, so that the wait does not count as the answer's.
  ///
  /// What follows is more of a body that has begun, or an answer from its head on.
  func requestBegins()
  /// Called before the first byte of the final answer; answers to redirects do not show.
  ///
  /// Where a transfer begins anew it is called again: what came before is void then.
  func begin(_ head: ResponseHead) throws(LoadError)
  func receive(_ bytes: UnsafeRawBufferPointer) throws(LoadError)
  /// Called for what passes between; who receives need not care.
  func note(_ step: TransferStep)
}

extension BodyReceiving {
  package func note(_ step: TransferStep) {}
}

/// What passes in a transfer beside the head and the body of the final answer.
package enum TransferStep: Sendable, Hashable {
  /// A connection is there, and the request goes out on it.
  case requested
  /// An answer says that the image is elsewhere, and the transfer goes on there.
  case redirected(ImageURL)
  /// So many bytes have come since the last such step: heads and bodies as they came over the network, also of
  /// redirects and of what is not delivered; without what TLS and TCP add.
  case moved(Int)
}

extension BodyReceiving {
  /// What measures no times has nothing to note.
  package func requestBegins() {}
}

/// Fetches over HTTP (a port).
package protocol Downloading: Sendable {
  /// Performs one transfer and returns when the whole body has been received.
  ///
  /// Any status reaches the receiver; what to make of it is the caller's matter. Cancelling the task stops the
  /// transfer.
  ///
  /// - Throws: ``LoadError``, also when the receiver throws it; `cancelled` when the task was cancelled.
  func download(
    _ request: DownloadRequest,
    into receiver: any BodyReceiving
  ) async throws(LoadError) -> ResponseHead

  /// Tells that the network has changed, so that no later transfer waits for a connection that leads nowhere.
  func forgetConnections()
}

extension Downloading {
  /// What keeps no connections has none to forget.
  package func forgetConnections() {}
}
