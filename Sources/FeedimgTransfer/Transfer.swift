import CCurl
import FeedimgModel
import Glibc

/// A running transfer: what libcurl delivers, from the request to the final response, redirects included.
///
/// libcurl calls it, on curl's thread, through the callbacks at the end of this file.
final class Transfer {
  /// What follows libcurl's work on one URL.
  enum EndStep {
    /// The transfer continues at another URL.
    case follow
    case end(Result<ResponseHead, LoadError>)
  }

  /// What has come from the present URL.
  private struct Exchange {
    var budget = HeadBudget()
    var requestWasSent = false
    /// The final head, unless it redirects.
    var head: ResponseHead?
    var redirect: (status: Int, location: String)?
    /// Whether libcurl undoes a content coding.
    var isDecoded = false
    /// Bytes of the body, once a content coding has been undone.
    var received = 0
    /// Bytes that the receiver has been told of.
    var told = 0
    /// Bytes of heads that it has not been told of.
    var untold = 0
    /// An address that the policy forbids.
    var refused: HostAddress?
    /// Why there was no descriptor for a socket, if so.
    var shortage: DescriptorShortage?
    /// The sockets opened for this exchange.
    var opened: [Int32] = []
    /// The socket of the request; nil before it, and for a Unix socket.
    var socket: CountedSocket?
    var isChunked = false

    var awaitsHead: Bool { head == nil && redirect == nil }
  }

  let order: TransferOrder
  let handle: CurlHandle
  /// Where it runs; nil before and after.
  var multi: CurlMulti?
  private(set) var timeouts: Timeouts
  private let addresses: AddressPolicy
  private let time: LoopTime
  private let sockets: OpenSockets
  private let receiver: any BodyReceiving
  /// Where redirects have led; nil before the first.
  private var redirects: RedirectChain?
  private var exchange = Exchange()
  private var failure: LoadError?

  /// A longer body of a redirect costs more than a new connection.
  private static let greatestSkipped = 64 << 10
  /// A decoded body may be this long, whatever it was before.
  private static let greatestUnsuspicious = 1 << 20
  private static let greatestGrowth = 100

  init(
    _ order: TransferOrder,
    on handle: CurlHandle,
    addresses: AddressPolicy,
    time: LoopTime,
    sockets: OpenSockets
  ) {
    self.order = order
    self.handle = handle
    self.addresses = addresses
    self.time = time
    self.sockets = sockets
    receiver = order.receiver
    timeouts = Timeouts(order.request, from: time.now)
  }

  var request: DownloadRequest { order.request }

  /// The present URL.
  var url: ImageURL { redirects?.url ?? request.url }

  /// The fields to send to the present URL.
  var fields: HTTPFields {
    guard let redirects, !redirects.staysHome else { return request.fields }
    return HTTPFields(request.fields.fields.filter { !Origin.binds($0) })
  }

  /// Whether libcurl undoes a content coding; a request that names codings gets the bytes as sent.
  var decodesContent: Bool { request.fields["accept-encoding"] == nil }

  var progress: CurlOutcome.Progress {
    CurlOutcome.Progress(
      origin: Origin(url),
      requestWasSent: exchange.requestWasSent,
      head: exchange.head,
      received: exchange.received
    )
  }

  // MARK: Beginning and end

  /// Begins with the present URL.
  func begin() {
    timeouts.connectionBegan()
    exchange = Exchange()
  }

  /// Keeps why this side stops the transfer; the first reason counts.
  func fail(_ error: LoadError) {
    if failure == nil { failure = error }
  }

  /// Decides what follows when libcurl has ended with the present URL.
  func end(_ code: CURLcode) -> EndStep {
    tellMoved(to: handle.receivedLength)
    if failure != nil { tellUnread() }
    if code == CURLE_COULDNT_CONNECT, let refused = exchange.refused { fail(refusal(of: refused)) }
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
    // A redirect counts as soon as its head has come, however its body ended.
    if let redirect = exchange.redirect {
      var chain = redirects ?? RedirectChain(from: request.url, limit: request.redirectLimit)
      try chain.follow(redirect.location, status: redirect.status, handle.library)
      redirects = chain
      receiver.note(.redirected(chain.url))
      return .follow
    }
    if code != CURLE_OK {
      var outcome = handle.outcome(code, connectTimeout: request.connectTimeout)
      outcome.shortage = code == CURLE_COULDNT_CONNECT ? exchange.shortage : .behind(code)
      if let error = outcome.error(progress) { throw error }
    }
    guard let head = exchange.head else { throw CurlOutcome.headBroken }
    return .end(.success(head))
  }

  // MARK: Addresses

  /// Whether it matters where a connection leads.
  private var checksAddresses: Bool { !addresses.isUnlimited && request.socket == nil }

  /// Opens a socket, unless the policy forbids its address.
  fileprivate func openSocket(_ address: UnsafeMutablePointer<curl_sockaddr>) -> Int32 {
    if checksAddresses {
      guard let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr),
        let target = HostAddress(UnsafeRawPointer(address) + offset)
      else { return CURL_SOCKET_BAD }
      guard addresses.allows(target) else {
        exchange.refused = target
        return CURL_SOCKET_BAD
      }
    }
    // libcurl's own sockets would stay open in programs that this process starts.
    let (family, kind, proto) = (address.pointee.family, address.pointee.socktype, address.pointee.protocol)
    let descriptor = socket(family, kind | Int32(SOCK_CLOEXEC.rawValue), proto)
    if descriptor < 0 {
      exchange.shortage = DescriptorShortage(errno)
    } else {
      exchange.opened.append(descriptor)
    }
    return descriptor
  }

  /// Checks the address of the connection, which another transfer may have opened, and notes the request.
  fileprivate func maySendRequest(to peer: UnsafePointer<CChar>?, localPort: Int32) -> Bool {
    if checksAddresses {
      let address = peer.flatMap { HostAddress(String(cString: $0)) }
      guard let address, addresses.allows(address) else {
        fail(refusal(of: address))
        return false
      }
    }
    if let peer, request.socket == nil { order.peer.note(String(cString: peer)) }
    if request.socket == nil {
      exchange.socket = sockets.socket(localPort: localPort, opened: exchange.opened)
    }
    exchange.requestWasSent = true
    timeouts.requestSent(at: time.now)
    receiver.note(.requested)
    return true
  }

  private func refusal(of address: HostAddress?) -> LoadError {
    // libcurl tells the address alone, and not whether it is the proxy's.
    if let address, let proxy = ProxySetting.current(for: url), proxy.mayBe(address) {
      return proxy.refusal(for: url)
    }
    return AddressPolicy.error(host: url.host, address)
  }

  // MARK: What comes

  /// Takes a line of a head or trailer, with its line break.
  fileprivate func take(line: UnsafeRawBufferPointer) throws(LoadError) {
    timeouts.lineArrived(at: time.now)
    exchange.untold += line.count
    try exchange.budget.take(line, isTrailer: !exchange.awaitsHead)
    // Lines after the final head are trailers (RFC 9110 §6.5), and nothing here needs them.
    guard exchange.awaitsHead, line.isLineBreak else { return }
    let status = handle.status
    guard status >= 200 else { return }
    timeouts.headEnded(at: time.now)
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
      // The length says nothing of the decoded body, whose end libcurl does not check.
      endsByClosing: received.endsByClosing || isDecoded
    )
    if request.method != .head, let length = head.contentLength, length > request.bodyLimit.bytes {
      throw tooLarge("the body has \(length) bytes, over")
    }
    exchange.isDecoded = isDecoded
    exchange.head = head
    try receiver.begin(head)
  }

  /// Takes bytes of a body.
  ///
  /// - Returns: False where the rest is not worth waiting for.
  fileprivate func take(body bytes: UnsafeRawBufferPointer) throws(LoadError) -> Bool {
    timeouts.bytesArrived(bytes.count, at: time.now)
    let wire = exchange.isDecoded ? handle.receivedLength : exchange.told + exchange.untold + bytes.count
    tellMoved(to: wire)
    exchange.received += bytes.count
    guard exchange.redirect == nil else { return exchange.received <= Self.greatestSkipped }
    guard exchange.received <= request.bodyLimit.bytes else { throw tooLarge("the body is longer than") }
    if exchange.isDecoded, exchange.received > Self.greatestUnsuspicious,
      // libcurl counts a piece of a chunked body only after it has delivered it.
      exchange.received / Self.greatestGrowth > wire + CurlHandle.bufferSize
    {
      throw LoadError(
        .tooLarge,
        message: "the body grows more than \(Self.greatestGrowth)-fold when its content coding is undone"
      )
    }
    try receiver.receive(bytes)
    return true
  }

  private func tellMoved(to count: Int) {
    guard count > exchange.told else { return }
    receiver.note(.moved(count - exchange.told))
    (exchange.told, exchange.untold) = (count, 0)
  }

  /// Counts what the kernel received for an HTTP/1.1 response that this side stops.
  ///
  /// Over HTTP/2, bytes that are on their way when a stream is stopped stay uncounted.
  private func tellUnread() {
    guard handle.isHTTP1, let received = exchange.socket?.received else { return }
    tellMoved(to: received.all)
  }

  /// The error for a response whose chunk framing is longer than its body by more than the limit for heads.
  ///
  /// libcurl skips chunk extensions and does not limit them (RFC 9112 §7.1.1). It may read some megabytes of them
  /// before it lets this check happen.
  var framingError: LoadError? {
    guard exchange.isChunked, let received = exchange.socket?.received else { return nil }
    let body = handle.receivedBodyLength
    guard received.all - received.unread - body > body + HeadBudget.greatestLength else { return nil }
    let limit = ByteCount(HeadBudget.greatestLength)
    return LoadError(
      .malformed,
      message: "the fields and the chunk framing of the response are longer than \(limit)"
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

  /// - Returns: False where libcurl has to stop.
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
    // libcurl closes the connection next.
    transfer.tellUnread()
    return false
  }
}
