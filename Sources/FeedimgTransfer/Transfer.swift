import CCurl
import FeedimgModel
import FeedimgSystem
import Glibc

/// A running transfer, from the first request through all redirects to the final response.
///
/// libcurl calls it on the executor's thread, through the callbacks at the end of this file.
final class Transfer {
  /// The step that follows a finished exchange with one URL.
  enum EndStep {
    /// Request the URL of a redirect.
    case follow
    case end(Result<ResponseHead, LoadError>)
  }

  /// The state of the exchange with the current URL.
  private struct Exchange {
    var budget = HeadBudget()
    var requestWasSent = false
    /// The final head, unless it redirects.
    var head: ResponseHead?
    var redirect: (status: Int, location: String)?
    /// Whether libcurl decodes a content coding of the body.
    var isDecoded = false
    var isChunked = false
    var bytes = ByteCounts()
    var connection = Connection()

    var awaitsHead: Bool { head == nil && redirect == nil }
  }

  /// The bytes of an exchange.
  private struct ByteCounts {
    /// The bytes of the body, after content decoding.
    var received = 0
    /// The bytes from the network that have been reported to the receiver.
    var reported = 0
    /// The bytes of heads that have not been reported yet.
    var unreported = 0
  }

  /// The connection of an exchange, which may be a reused one.
  private struct Connection {
    /// The address that the policy forbids, if any.
    var refused: IPAddress?
    /// The shortage of descriptors that prevented opening a socket, if any.
    var shortage: LoadError?
    /// The sockets opened for this exchange.
    var opened: [Int32] = []
    /// The socket of the request; nil before the request, and for a Unix socket.
    var socket: CountedSocket?

    /// Opens a socket, unless the policy forbids its address.
    mutating func open(_ address: UnsafeMutablePointer<curl_sockaddr>, _ policy: AddressPolicy) -> Int32 {
      let descriptor = policy.openSocket(address, &refused)
      if descriptor >= 0 {
        opened.append(descriptor)
      } else if refused == nil {
        shortage = LoadError.descriptorShortage(errno)
      }
      return descriptor
    }
  }

  /// What the transfers of a downloader share.
  struct Shared {
    let addresses: AddressPolicy
    /// See ``CurlHandle/Identity/proxy``.
    let proxy: String?
    let time: LoopTime
    let sockets: OpenSockets
  }

  let order: TransferOrder
  let handle: CurlHandle
  /// The multi handle that runs the transfer; nil before and after.
  var multi: CurlMulti?
  private(set) var timeouts: Timeouts
  private let shared: Shared
  /// The followed redirects; nil before the first.
  private var redirects: RedirectChain?
  private var exchange = Exchange()
  private var failure: LoadError?

  /// The longest body of a redirect to read; a new connection costs less than a longer body.
  private static let maximumRedirectBody = 64 << 10
  /// The longest decoded body for which the expansion factor is not checked.
  private static let maximumUncheckedLength = 1 << 20
  /// The largest factor by which content decoding may expand a body.
  private static let maximumExpansion = 100

  init(_ order: TransferOrder, on handle: CurlHandle, _ shared: Shared) {
    (self.order, self.handle, self.shared) = (order, handle, shared)
    timeouts = Timeouts(order.request, from: shared.time.now)
  }

  var request: DownloadRequest { order.request }
  private var receiver: any BodyReceiving { order.receiver }
  // A Unix socket has no address.
  private var addresses: AddressPolicy { request.socket == nil ? shared.addresses : .everything }

  /// The current URL.
  var url: ImageURL { redirects?.url ?? request.url }

  /// The fields to send to the current URL.
  var fields: HTTPFields {
    if let redirects, !redirects.isSameOrigin {
      return HTTPFields(request.fields.fields.filter { !$0.isCredential })
    }
    let bound = request.boundFields
    guard !bound.fields.isEmpty else { return request.fields }
    return HTTPFields(request.fields.fields.filter { bound[$0.name] == nil } + bound.fields)
  }

  /// Whether libcurl decodes content codings; it does not if the request has its own `Accept-Encoding`.
  var decodesContent: Bool { request.fields["accept-encoding"] == nil }

  var progress: CurlOutcome.Progress {
    CurlOutcome.Progress(
      url: url,
      requestWasSent: exchange.requestWasSent,
      head: exchange.head,
      received: exchange.bytes.received
    )
  }

  // MARK: Beginning and end

  /// Begins the exchange with the current URL.
  func begin() {
    timeouts.connectionBegan()
    exchange = Exchange()
  }

  /// Records the error for which this side stops the transfer; only the first error counts.
  func fail(_ error: LoadError) {
    if failure == nil { failure = error }
  }

  /// Ends the exchange with the current URL and decides the next step.
  func end(_ code: CURLcode) -> EndStep {
    report(received: handle.receivedLength)
    if failure != nil { reportUnread() }
    if code == CURLE_COULDNT_CONNECT, let refused = exchange.connection.refused { fail(refusal(of: refused)) }
    do throws(LoadError) {
      return try step(after: code)
    } catch {
      var error = error
      error.url = error.url ?? request.url
      return .end(.failure(error))
    }
  }

  private func step(after code: CURLcode) throws(LoadError) -> EndStep {
    if let failure { throw failure }
    // Follow a redirect even if its body failed.
    if let redirect = exchange.redirect {
      var chain = redirects ?? RedirectChain(from: request.url, limit: request.redirectLimit)
      try chain.follow(redirect.location, status: redirect.status, handle.library)
      redirects = chain
      receiver.note(.redirected(chain.url))
      return .follow
    }
    if code != CURLE_OK {
      var outcome = handle.outcome(code, connectTimeout: request.connectTimeout)
      outcome.shortage =
        code == CURLE_COULDNT_CONNECT
        ? exchange.connection.shortage : LoadError.descriptorShortage(behind: code)
      if let error = outcome.error(progress) { throw error }
    }
    guard let head = exchange.head else { throw CurlOutcome.headTruncated }
    if let error = expansionError(encoded: exchange.bytes.reported) { throw error }
    return .end(.success(head))
  }

  // MARK: Addresses

  fileprivate func openSocket(_ address: UnsafeMutablePointer<curl_sockaddr>) -> Int32 {
    exchange.connection.open(address, addresses)
  }

  /// Checks the address of the connection and records the request.
  ///
  /// The connection may be a reused one, for which `openSocket` checked nothing in this transfer.
  fileprivate func maySendRequest(to peer: UnsafePointer<CChar>?, localPort: Int32) -> Bool {
    if !addresses.isUnlimited {
      let address = peer.flatMap { IPAddress(String(cString: $0)) }
      guard let address, addresses.allows(address) else {
        fail(refusal(of: address))
        return false
      }
    }
    if let peer, request.socket == nil { order.peer.note(String(cString: peer)) }
    if request.socket == nil {
      let opened = exchange.connection.opened
      exchange.connection.socket = shared.sockets.socket(localPort: localPort, opened: opened)
    }
    exchange.requestWasSent = true
    timeouts.requestSent(at: shared.time.now)
    receiver.note(.requested)
    return true
  }

  private func refusal(of address: IPAddress?) -> LoadError {
    let proxy = ProxySetting(for: url, chosen: shared.proxy) { getenv($0).map { String(cString: $0) } }
    if let address, let error = proxy?.refusal(of: address, for: url) { return error }
    return AddressPolicy.error(host: url.host, address)
  }

  // MARK: Response

  /// Takes a line of a head or trailer, with its line break.
  fileprivate func take(line: UnsafeRawBufferPointer) throws(LoadError) {
    timeouts.arrived(at: shared.time.now)
    exchange.bytes.unreported += line.count
    try exchange.budget.take(line, isTrailer: !exchange.awaitsHead)
    // Lines after the final head are trailers (RFC 9110 §6.5), which are ignored.
    guard exchange.awaitsHead, line.isLineBreak else { return }
    let status = handle.status
    guard status >= 200 else { return }
    let head = try ReceivedHead(status: status, isHTTP1: handle.isHTTP1, fields: handle.fields)
    exchange.isChunked = handle.isHTTP1 && head.fields["transfer-encoding"] != nil
    if request.followsRedirects, RedirectChain.isRedirect(status),
      let location = head.fields.fields.first(where: { $0.isNamed("location") })
    {
      exchange.redirect = (status, location.value)
    } else {
      try take(head: head)
    }
  }

  private func take(head received: ReceivedHead) throws(LoadError) {
    let isDecoded = received.contentCoding != nil && decodesContent
    let head = ResponseHead(
      status: received.status,
      fields: isDecoded ? received.fields.withoutContentCoding : received.fields,
      url: url,
      contentLength: isDecoded ? nil : received.contentLength,
      // `Content-Length` counts encoded bytes, and libcurl does not check the end of the decoded body.
      endsByClosing: received.endsByClosing || isDecoded
    )
    if !request.method.isHead, let length = head.contentLength, length > request.bodyLimit.bytes {
      throw tooLarge("the body has \(length) bytes, over")
    }
    exchange.isDecoded = isDecoded
    exchange.head = head
    try receiver.begin(head)
  }

  /// Takes bytes of a body.
  ///
  /// - Returns: False to stop reading a long body of a redirect.
  fileprivate func take(body bytes: UnsafeRawBufferPointer) throws(LoadError) -> Bool {
    timeouts.arrived(at: shared.time.now)
    let wire =
      exchange.isDecoded
      ? handle.receivedLength : exchange.bytes.reported + exchange.bytes.unreported + bytes.count
    report(received: wire)
    exchange.bytes.received += bytes.count
    let received = exchange.bytes.received
    guard exchange.redirect == nil else { return received <= Self.maximumRedirectBody }
    guard received <= request.bodyLimit.bytes else { throw tooLarge("the body is longer than") }
    // libcurl counts the bytes of a chunk only after it has delivered them.
    if let error = expansionError(encoded: wire + CurlHandle.bufferSize) { throw error }
    try receiver.receive(bytes)
    return true
  }

  /// The error for a body that content decoding has expanded too much from at most `encoded` bytes.
  private func expansionError(encoded: Int) -> LoadError? {
    guard exchange.isDecoded, exchange.bytes.received > Self.maximumUncheckedLength,
      exchange.bytes.received / Self.maximumExpansion > encoded
    else { return nil }
    return LoadError(
      .tooLarge,
      message: "the decoded body is more than \(Self.maximumExpansion) times as long as the encoded body"
    )
  }

  private func report(received count: Int) {
    let reported = exchange.bytes.reported
    guard count > reported else { return }
    receiver.note(.moved(count - reported))
    (exchange.bytes.reported, exchange.bytes.unreported) = (count, 0)
  }

  /// Reports the bytes that the kernel received for an HTTP/1.1 response that this side stops.
  ///
  /// Over HTTP/2, bytes that arrive after a stream is stopped are not counted.
  private func reportUnread() {
    guard handle.isHTTP1, let received = exchange.connection.socket?.received else { return }
    report(received: received.all)
  }

  /// The error for a response with too much chunk framing: more than its body and the limit for heads
  /// together.
  ///
  /// libcurl skips chunk extensions (RFC 9112 §7.1.1) without a limit. It may read several megabytes of them
  /// before this check runs.
  var framingError: LoadError? {
    guard exchange.isChunked, let received = exchange.connection.socket?.received else { return nil }
    let body = handle.receivedBodyLength
    guard received.all - received.unread - body > body + HeadBudget.maximumLength else { return nil }
    let limit = ByteCount(HeadBudget.maximumLength)
    return LoadError(
      .malformed,
      message: "the header and chunk framing of the response exceed the limit of \(limit)"
    )
  }

  private func tooLarge(_ fact: String) -> LoadError {
    LoadError(.tooLarge, message: "\(fact) the limit of \(request.bodyLimit)")
  }
}

/// libcurl's callbacks; their context is the transfer.
extension Transfer {
  static let headerCallback: curl_write_callback = { bytes, size, count, context in
    let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
    return Transfer.continues(context) { transfer throws(LoadError) in
      try transfer.take(line: line)
      return true
    } ? size * count : 0
  }

  static let bodyCallback: curl_write_callback = { bytes, size, count, context in
    let piece = UnsafeRawBufferPointer(start: bytes, count: size * count)
    return Transfer.continues(context) { transfer throws(LoadError) in try transfer.take(body: piece) }
      ? size * count : 0
  }

  static let requestCallback: curl_prereq_callback = { context, peer, _, _, localPort in
    let isAllowed = Transfer.continues(context) { $0.maySendRequest(to: peer, localPort: localPort) }
    return isAllowed ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
  }

  static let socketCallback: curl_opensocket_callback = { context, _, address in
    guard let context, let address else { return CURL_SOCKET_BAD }
    return Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue().openSocket(address)
  }

  /// Calls a method of the transfer and records its error.
  ///
  /// - Returns: False if libcurl must stop the transfer.
  private static func continues(
    _ context: UnsafeMutableRawPointer?,
    _ body: (Transfer) throws(LoadError) -> Bool
  ) -> Bool {
    guard let context else { return false }
    let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    do throws(LoadError) {
      if try body(transfer) { return true }
    } catch {
      transfer.fail(error)
    }
    // libcurl closes the connection next, so count its bytes now.
    transfer.reportUnread()
    return false
  }
}
