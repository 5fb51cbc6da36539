import FeedimgModel
import NIOCore
import NIOHTTP1

/// Speaks HTTP/1.1 with one client: receives one request after the other and sends the responses.
///
/// Runs on the event loop of its connection. It also reads while a response is under way, so that it notices when the
/// client disconnects. Requests that arrive early wait; a client that sends too many of them is disconnected.
final class ConnectionHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  enum Phase {
    /// Waits for the head of a request.
    case idle
    case receiving(HTTPRequestHead, HTTPFields)
    /// Prepares and sends a response, with the task that prepares it, if any.
    case responding(HTTPRequestHead, Task<Void, Never>?)
    /// The last response has been sent; further input is dropped.
    case closing
  }

  let limits: ConnectionLimits
  let register: ConnectionRegister
  var phase = Phase.idle
  let deadline = ConnectionDeadline()
  var date = DateField()
  /// Whether the connection closes after the current response.
  var endsAfterResponse = false
  private var context: ChannelHandlerContext?
  /// The requests since ``takeRepeatable()``: their number, and the last one with a response from memory.
  private var begun: (count: Int, repeatable: RepeatableRequest?) = (0, nil)
  private let routes: RouteTable
  private let access: AccessRule
  /// The body of the request, as far as it has arrived.
  private var body: [UInt8] = []
  /// The share of this connection in the limit for the bodies of all requests, in bytes.
  private var heldCount = 0
  /// The longest body of the current request, in bytes.
  private var bodyLimit = 0
  /// The parts that arrived before the last response ended, with the length of the bodies in them.
  private var early: (parts: [HTTPServerRequestPart], length: Int) = ([], 0)

  init(
    routes: RouteTable,
    access: AccessRule,
    limits: ConnectionLimits,
    register: ConnectionRegister
  ) {
    self.routes = routes
    self.access = access
    self.limits = limits
    self.register = register
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    if context.channel.isActive { expect(within: limits.request, context: context) }
  }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func channelActive(context: ChannelHandlerContext) { expect(within: limits.request, context: context) }

  func channelInactive(context: ChannelHandlerContext) {
    deadline.cancel()
    if case .responding(_, let work) = phase { work?.cancel() }
    phase = .closing
    releaseBody()
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let part = unwrapInboundIn(data)
    switch (phase, part) {
    case (.idle, .head(let head)): begin(head, context: context)
    case (.receiving, .body(let bytes)): take(bytes, context: context)
    case (.receiving(let head, let fields), .end): respond(to: head, fields, context: context)
    case (.responding, _):
      early.parts.append(part)
      if case .body(let bytes) = part { early.length += bytes.readableBytes }
      // Useful clients send far less.
      if early.parts.count > 64 || early.length > limits.head { hangUp(context: context) }
    case (.idle, _), (.receiving, .head), (.closing, _): break
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case ChannelEvent.inputClosed:
      if case .responding(_, let work) = phase {
        endsAfterResponse = true
        // Over TCP the client has most likely disconnected; a response that is ready is sent all the same. A client of
        // the Unix socket that disconnects closes both sides, which makes the channel inactive.
        if case .loopback = access { work?.cancel() }
      } else {
        context.close(promise: nil)
      }
    case is ChannelShouldQuiesceEvent:
      if case .idle = phase { context.close(promise: nil) }
      endsAfterResponse = true
    default: context.fireUserInboundEventTriggered(event)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    switch phase {
    case .idle, .receiving:
      guard let error = error as? HTTPParserError else { return hangUp(context: context) }
      refuse(error.problem(limits), context: context)
    // The connection closes after the response to the valid request.
    case .responding: endsAfterResponse = true
    // The rest of a refused request is malformed too.
    case .closing: if !(error is HTTPParserError) { context.close(promise: nil) }
    }
  }

  /// Waits for the next request, parts of which may have arrived.
  func proceed(context: ChannelHandlerContext) {
    phase = .idle
    releaseBody()
    expect(within: limits.request, context: context)
    let parts = early.parts
    early = ([], 0)
    for part in parts { channelRead(context: context, data: NIOAny(part)) }
  }

  private func begin(_ head: HTTPRequestHead, context: ChannelHandlerContext) {
    let fields = HTTPFields(head.headers.map { HTTPFields.Field(name: $0.name, value: $0.value) })
    if let rejection = rejection(of: head, fields) {
      return refuse(rejection, withBody: head.method != .HEAD, context: context)
    }
    // The decoder stops after an offer to change the protocol, which this service never accepts.
    if head.method == .CONNECT || fields["Upgrade"] != nil { endsAfterResponse = true }
    if head.version == .http1_1, fields["Expect"]?.lowercased() == "100-continue" {
      let interim = HTTPResponseHead(version: .http1_1, status: .continue)
      context.writeAndFlush(wrapOutboundOut(.head(interim)), promise: nil)
    }
    begun = (begun.count + 1, nil)
    phase = .receiving(head, fields)
    expect(within: limits.request, context: context)
  }

  private func rejection(of head: HTTPRequestHead, _ fields: HTTPFields) -> Problem? {
    // With two fields, two programs could each read another host (RFC 9112 §3.2).
    let hostCount = fields.fields.count { $0.isNamed("host") }
    if head.version == .http1_1, hostCount != 1 {
      return Problem(400, "expected one field `Host`, found \(hostCount)")
    }
    if let host = fields["Host"], !HostField.isWellFormed(host) {
      return Problem(400, "`\(host)` is not a host")
    }
    if let coding = fields["Transfer-Encoding"], coding.lowercased() != "chunked" {
      return Problem(501, "the transfer coding `\(coding)` is not supported, only `chunked`")
    }
    let path = String(head.uri.prefix { $0 != "?" })
    let isGateway = routes.isGateway(path)
    let isPublic = { isGateway || PageRoute.isPublic(head.method.rawValue, head.uri) }
    var checked = fields
    // A reader shows the pictures of a feed in a page of another site. Their addresses are signed or have a token.
    if isGateway, GatewayRoute.isPicture(path) {
      checked.fields.removeAll { $0.isNamed("origin") || $0.isNamed("sec-fetch-site") }
    }
    if let rejection = access.rejection(of: checked, isPublic: isPublic()) { return rejection }
    bodyLimit = isGateway ? limits.gatewayBody : limits.body
    let length = fields["Content-Length"].flatMap { Int($0) } ?? 0
    return length > bodyLimit ? tooLong : nil
  }

  private func take(_ bytes: ByteBuffer, context: ChannelHandlerContext) {
    guard body.count + bytes.readableBytes <= bodyLimit else { return refuse(tooLong, context: context) }
    guard hold(bytes.readableBytes) else { return refuse(noRoom, context: context) }
    body.append(contentsOf: bytes.readableBytesView)
  }

  private func respond(to head: HTTPRequestHead, _ fields: HTTPFields, context: ChannelHandlerContext) {
    deadline.clear()
    let body = body
    self.body = []
    phase = .responding(head, nil)
    if head.uri == "*", head.method == .OPTIONS { return send(routes.options, context: context) }
    guard let target = RequestTarget(head.uri) else {
      let problem = Problem(
        400,
        "the target of the request is not a path with a query in percent-encoded UTF-8"
      )
      return send(problem.response, context: context)
    }
    // Those of a gateway belong to the server behind it.
    let hasOwnCredentials = routes.isGateway(target.path) && GatewayRoute.passesCredentials(target.path)
    let request = ServiceRequest(
      method: head.method.rawValue,
      target: target,
      fields: hasOwnCredentials ? fields : access.withoutCredentials(fields),
      body: body
    )
    if let response = routes.immediateResponse(to: request) {
      // A repetition would skip the interim response.
      let isPlain = !endsAfterResponse && fields["Expect"] == nil
      begun.repeatable = isPlain ? RepeatableRequest(access: access, head: head, request: request) : nil
      return send(response, context: context)
    }
    let loop = context.eventLoop
    let (handler, bound) = (NIOLoopBound(self, eventLoop: loop), NIOLoopBound(context, eventLoop: loop))
    // Other routes may compute for long, which must not delay other clients.
    let executor: any TaskExecutor =
      routes.hasImmediateHandler(request) ? EventLoopTaskExecutor(loop) : TaskThread.executor
    let work = Task(executorPreference: executor) { [routes, request] in
      let response = await routes.response(to: request)
      loop.execute { handler.value.send(response, context: bound.value) }
    }
    phase = .responding(head, work)
  }

  // MARK: Repeated requests

  /// Whether the next input begins a request, which may get a response.
  var isIdle: Bool {
    guard case .idle = phase else { return false }
    return !endsAfterResponse && !register.isDraining
  }

  /// The response to a repeated request from memory, to be sent next; nil if the decoder must read the request again.
  func response(to repeated: RepeatableRequest) -> ServiceResponse? {
    guard repeated.access == access, let response = routes.immediateResponse(to: repeated.request)
    else { return nil }
    deadline.clear()
    phase = .responding(repeated.head, nil)
    return response
  }

  /// Sends the response to the current request.
  func send(_ response: ServiceResponse) {
    if let context { send(response, context: context) }
  }

  /// The only request since the last call, if memory had its response; called before and after each input.
  func takeRepeatable() -> RepeatableRequest? {
    defer { begun = (0, nil) }
    return begun.count == 1 && early.parts.isEmpty && !endsAfterResponse ? begun.repeatable : nil
  }

  /// Counts bytes toward the limit for all bodies until the end of the response; false if they exceed it.
  func hold(_ count: Int) -> Bool {
    guard register.hold(count) else { return false }
    heldCount += count
    return true
  }

  /// Gives the limits of HTTP back when the connection becomes a WebSocket.
  func endUpgraded() {
    deadline.cancel()
    releaseBody()
  }

  private func releaseBody() {
    body = []
    register.release(heldCount)
    heldCount = 0
  }

  var noRoom: Problem {
    Problem(503, "too many long bodies are under way", fields: [("Retry-After", "1")])
  }

  private var tooLong: Problem { Problem(413, "the body of a request may have \(bodyLimit) bytes") }
}
