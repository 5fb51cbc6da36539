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

  let rules: RequestRules
  let register: ConnectionRegister
  let deadline = ConnectionDeadline()
  var state = ConnectionState()
  var body: RequestBody
  var date = DateField()
  private var context: ChannelHandlerContext?
  private var pipelined: PipelinedParts
  /// The requests since ``takeRepeatable()``.
  private var inputRequests = InputRequests()

  init(routes: RouteTable, access: AccessRule, limits: ConnectionLimits, register: ConnectionRegister) {
    rules = RequestRules(routes: routes, access: access, limits: limits)
    self.register = register
    body = RequestBody(register)
    pipelined = PipelinedParts(maximumLength: limits.head)
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    if context.channel.isActive { expect(within: rules.limits.request, context: context) }
  }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func channelActive(context: ChannelHandlerContext) {
    expect(within: rules.limits.request, context: context)
  }

  func channelInactive(context: ChannelHandlerContext) {
    deadline.cancel()
    state.work?.cancel()
    state.phase = .closing
    body.release()
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let part = unwrapInboundIn(data)
    switch (state.phase, part) {
    case (.idle, .head(let head)): begin(head, context: context)
    case (.receiving, .body(let bytes)): take(bytes, context: context)
    case (.receiving(let head, let fields, let target), .end):
      respond(to: head, fields, target, context: context)
    case (.responding, _): if !pipelined.append(part) { hangUp(context: context) }
    case (.idle, _), (.receiving, .head), (.closing, _): break
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case ChannelEvent.inputClosed:
      if case .responding(_, let work) = state.phase {
        state.endsAfterResponse = true
        // Over TCP the client has most likely disconnected; a response that is ready is sent all the same. A client of
        // the Unix socket that disconnects closes both sides, which makes the channel inactive.
        if case .loopback = rules.access { work?.cancel() }
      } else {
        context.close(promise: nil)
      }
    case is ChannelShouldQuiesceEvent:
      if case .idle = state.phase { context.close(promise: nil) }
      state.endsAfterResponse = true
    default: context.fireUserInboundEventTriggered(event)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    switch state.phase {
    case .idle, .receiving:
      guard let error = error as? HTTPParserError else { return hangUp(context: context) }
      refuse(error.problem(rules.limits), context: context)
    // The connection closes after the response to the valid request.
    case .responding: state.endsAfterResponse = true
    // The rest of a refused request is malformed too.
    case .closing: if !(error is HTTPParserError) { context.close(promise: nil) }
    }
  }

  /// Waits for the next request, parts of which may have arrived.
  func proceed(context: ChannelHandlerContext) {
    state.phase = .idle
    body.release()
    expect(within: rules.limits.request, context: context)
    for part in pipelined.take() { channelRead(context: context, data: NIOAny(part)) }
  }

  private func begin(_ head: HTTPRequestHead, context: ChannelHandlerContext) {
    let fields = HTTPFields(head.headers.map { HTTPFields.Field(name: $0.name, value: $0.value) })
    let target: RequestTarget?
    do throws(Problem) {
      let accepted = try rules.accept(head, fields)
      try body.begin(length: fields["Content-Length"], limit: accepted.bodyLimit)
      target = accepted.target
    } catch {
      return refuse(error, withBody: head.method != .HEAD, context: context)
    }
    // The decoder stops after an offer to change the protocol, which this service never accepts.
    if head.method == .CONNECT || fields["Upgrade"] != nil { state.endsAfterResponse = true }
    if head.version == .http1_1, fields["Expect"]?.lowercased() == "100-continue" {
      let interim = HTTPResponseHead(version: .http1_1, status: .continue)
      context.writeAndFlush(wrapOutboundOut(.head(interim)), promise: nil)
    }
    inputRequests.begin()
    state.phase = .receiving(head, fields, target)
    expect(within: rules.limits.request, context: context)
  }

  private func take(_ bytes: ByteBuffer, context: ChannelHandlerContext) {
    do throws(Problem) {
      try body.append(bytes)
    } catch {
      refuse(error, context: context)
    }
  }

  private func respond(
    to head: HTTPRequestHead,
    _ fields: HTTPFields,
    _ target: RequestTarget?,
    context: ChannelHandlerContext
  ) {
    deadline.clear()
    let bytes = body.take()
    state.phase = .responding(head, nil)
    guard let target else { return send(rules.routes.options, context: context) }
    let request = rules.request(head, fields, target, body: bytes)
    if let response = rules.routes.immediateResponse(to: request) {
      // A repetition would skip the interim response.
      if !state.endsAfterResponse, fields["Expect"] == nil {
        inputRequests.keep(RepeatableRequest(access: rules.access, head: head, request: request))
      }
      return send(response, context: context)
    }
    let loop = context.eventLoop
    let (handler, bound) = (NIOLoopBound(self, eventLoop: loop), NIOLoopBound(context, eventLoop: loop))
    // Other routes may compute or wait for long, which must not delay the bodies and events of other clients.
    let executor: any TaskExecutor =
      rules.routes.hasImmediateHandler(request) ? EventLoopTaskExecutor(loop) : TaskThread.routes
    let work = Task(executorPreference: executor) { [routes = rules.routes, request] in
      let response = await routes.response(to: request)
      loop.execute { handler.value.send(response, context: bound.value) }
    }
    state.phase = .responding(head, work)
  }

  // MARK: Repeated requests

  /// Whether the next input begins a request, which may get a response.
  var isIdle: Bool { state.acceptsRequest && !register.isDraining }

  /// The response to a repeated request from memory, to be sent next; nil if the decoder must read the request again.
  func response(to repeated: RepeatableRequest) -> ServiceResponse? {
    guard repeated.access == rules.access, let response = rules.routes.immediateResponse(to: repeated.request)
    else { return nil }
    deadline.clear()
    state.phase = .responding(repeated.head, nil)
    return response
  }

  /// Sends the response to the current request.
  func send(_ response: ServiceResponse) {
    if let context { send(response, context: context) }
  }

  /// The only request since the last call, if memory had its response; called before and after each input.
  func takeRepeatable() -> RepeatableRequest? {
    let request = inputRequests.take()
    return pipelined.isEmpty && !state.endsAfterResponse ? request : nil
  }
}

/// The progress of a connection, which responds to one request at a time.
struct ConnectionState {
  enum Phase {
    /// Waits for the head of a request.
    case idle
    /// The target is nil for `OPTIONS *`.
    case receiving(HTTPRequestHead, HTTPFields, RequestTarget?)
    /// Prepares and sends a response, with the task for it, if any.
    case responding(HTTPRequestHead, Task<Void, Never>?)
    /// The last response has been sent; further input is dropped.
    case closing
  }

  var phase = Phase.idle
  /// Whether the connection closes after the current response.
  var endsAfterResponse = false

  /// Whether another request may begin.
  var acceptsRequest: Bool { if case .idle = phase { !endsAfterResponse } else { false } }

  /// The task that prepares or sends the current response, if any.
  var work: Task<Void, Never>? { if case .responding(_, let work) = phase { work } else { nil } }
}

/// The parts of pipelined requests, which wait for the end of the current response (RFC 9112 §9.3.2).
struct PipelinedParts {
  /// The most parts that may wait; useful clients send far fewer.
  private static let maximumCount = 64

  private var parts: [HTTPServerRequestPart] = []
  /// The length of the bodies in the parts, in bytes.
  private var length = 0
  private let maximumLength: Int

  init(maximumLength: Int) { self.maximumLength = maximumLength }

  var isEmpty: Bool { parts.isEmpty }

  /// Adds a part; false if the parts exceed a limit.
  mutating func append(_ part: HTTPServerRequestPart) -> Bool {
    parts.append(part)
    if case .body(let bytes) = part { length += bytes.readableBytes }
    return parts.count <= Self.maximumCount && length <= maximumLength
  }

  /// Removes and returns all parts.
  mutating func take() -> [HTTPServerRequestPart] {
    defer { (parts, length) = ([], 0) }
    return parts
  }
}
