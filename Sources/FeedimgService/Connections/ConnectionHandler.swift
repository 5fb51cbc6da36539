import FeedimgModel
import NIOCore
import NIOHTTP1

/// Speaks HTTP/1.1 with one client: takes requests one after the other, and hands out the answers.
///
/// Lives on the event loop of its connection. Input is read also while an answer is under way, so that a client that
/// hangs up is noticed; what comes early waits, and not much of it.
final class ConnectionHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  enum Phase {
    /// For the head of a request.
    case waiting
    case receiving(HTTPRequestHead)
    /// The work that the answer takes, if any, until all of it is sent.
    case answering(HTTPRequestHead, Task<Void, Never>?)
    /// The last answer is out; what still comes is dropped.
    case leaving
  }

  let routes: RouteTable
  let access: AccessRule
  let limits: ConnectionLimits
  let register: ConnectionRegister
  var phase = Phase.waiting
  var deadline = ConnectionDeadline()
  var date = DateField()
  /// Whether the connection ends after the answer that is under way.
  var endsAfterAnswer = false
  /// Where answers go that are there in whole; nil where there is no socket to write to.
  var output: SocketOutput?
  /// The fields of the plain request that came last.
  var latestFields = LatestFields()
  /// Whether what the decoder is at begins with letters, as requests do.
  var beginsWithMethod = false
  /// Where this stands in the pipeline.
  private(set) var context: ChannelHandlerContext?
  /// What has come of the body of the request.
  private var body: [UInt8] = []
  /// How much of the room for bodies this connection takes.
  private var held = 0
  /// What came before the last request was answered, with the length of the bodies in it.
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
    output = SocketOutput(below: context)
    if context.channel.isActive { expect(within: limits.request, context: context) }
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    output = nil
  }

  func channelActive(context: ChannelHandlerContext) { expect(within: limits.request, context: context) }

  func channelInactive(context: ChannelHandlerContext) {
    deadline.cancel()
    output = nil
    if case .answering(_, let work) = phase { work?.cancel() }
    phase = .leaving
    releaseBody()
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let part = unwrapInboundIn(data)
    switch (phase, part) {
    case (.waiting, .head(let head)): begin(head, context: context)
    case (.receiving, .body(let bytes)): take(bytes, context: context)
    case (.receiving(let head), .end): answer(head, context: context)
    case (.answering, _):
      early.parts.append(part)
      if case .body(let bytes) = part { early.length += bytes.readableBytes }
      // No client has a use for that much.
      if early.parts.count > 64 || early.length > limits.head { hangUp(context: context) }
    case (.waiting, _), (.receiving, .head), (.leaving, _): break
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case ChannelEvent.inputClosed:
      if case .answering(_, let work) = phase {
        endsAfterAnswer = true
        // Over TCP nobody waits any more, most likely; what needs no waiting is answered still. At the Unix socket who
        // hangs up has closed both sides, which ends the channel.
        if case .loopback = access { work?.cancel() }
      } else {
        context.close(promise: nil)
      }
    case is ChannelShouldQuiesceEvent:
      if case .waiting = phase { context.close(promise: nil) }
      endsAfterAnswer = true
    default: context.fireUserInboundEventTriggered(event)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    switch phase {
    case .waiting, .receiving:
      guard let error = error as? HTTPParserError else { return hangUp(context: context) }
      refuse(error.problem(limits, beginsWithMethod: beginsWithMethod), context: context)
    // The request that was understood is answered before the connection ends.
    case .answering: endsAfterAnswer = true
    // More of what was refused.
    case .leaving: if !(error is HTTPParserError) { context.close(promise: nil) }
    }
  }

  /// Goes on to the next request, part of which may be here.
  func proceed(context: ChannelHandlerContext) {
    phase = .waiting
    releaseBody()
    expect(within: limits.request, context: context)
    let parts = early.parts
    early = ([], 0)
    for part in parts { channelRead(context: context, data: NIOAny(part)) }
  }

  private func begin(_ head: HTTPRequestHead, context: ChannelHandlerContext) {
    let fields = HTTPFields(head.headers.map { HTTPFields.Field(name: $0.name, value: $0.value) })
    if let objection = objection(to: head, fields) {
      return refuse(objection, withBody: head.method != .HEAD, context: context)
    }
    // The decoder takes nothing more behind an offer to speak another protocol, though nobody takes that up.
    if head.method == .CONNECT || fields["Upgrade"] != nil { endsAfterAnswer = true }
    if head.version == .http1_1, fields["Expect"]?.lowercased() == "100-continue" {
      let go = HTTPResponseHead(version: .http1_1, status: .continue)
      context.writeAndFlush(wrapOutboundOut(.head(go)), promise: nil)
    }
    phase = .receiving(head)
    expect(within: limits.request, context: context)
  }

  private func objection(to head: HTTPRequestHead, _ fields: HTTPFields) -> Problem? {
    // Else two programs could each take another one for the host (RFC 9112 §3.2).
    if head.version == .http1_1, head.headers["Host"].count != 1 {
      return Problem(400, "expected one field `Host`, found \(head.headers["Host"].count)")
    }
    if let host = fields["Host"], !HostField.isWellFormed(host) {
      return Problem(400, "`\(host)` is no host")
    }
    if let coding = fields["Transfer-Encoding"], coding.lowercased() != "chunked" {
      return Problem(501, "the transfer coding `\(coding)` is not known here, only `chunked`")
    }
    let isPublic = PageRoute.isPublic(head.method.rawValue, head.uri)
    if let objection = access.objection(to: fields, isPublic: isPublic) { return objection }
    let length = fields["Content-Length"].flatMap { Int($0) } ?? 0
    return length > limits.body ? tooLong : nil
  }

  private func take(_ bytes: ByteBuffer, context: ChannelHandlerContext) {
    guard body.count + bytes.readableBytes <= limits.body else { return refuse(tooLong, context: context) }
    guard register.hold(bytes.readableBytes) else { return refuse(noRoom, context: context) }
    held += bytes.readableBytes
    body.append(contentsOf: bytes.readableBytesView)
  }

  private func answer(_ head: HTTPRequestHead, context: ChannelHandlerContext) {
    deadline.clear()
    let body = body
    self.body = []
    let fields = access.withoutOwn(
      HTTPFields(head.headers.map { HTTPFields.Field(name: $0.name, value: $0.value) })
    )
    phase = .answering(head, nil)
    if head.uri == "*", head.method == .OPTIONS { return send(routes.options, context: context) }
    guard let target = RequestTarget(head.uri) else {
      let problem = Problem(400, "the target of the request is no path with a query in escaped UTF-8")
      return send(problem.answer, context: context)
    }
    var request = ServiceRequest(head.method.rawValue, target, fields: fields, body: body)
    request.takesCopies = output?.takesCopies ?? false
    if let answer = routes.answerAtOnce(request) { return send(answer, context: context) }
    let loop = context.eventLoop
    let (handler, bound) = (NIOLoopBound(self, eventLoop: loop), NIOLoopBound(context, eventLoop: loop))
    // What may compute for long is done elsewhere, so that other clients need not wait.
    let executor = routes.hasShortcut(request) ? LoopExecutor(loop) : nil
    let work = Task(executorPreference: executor) { [routes, request] in
      let answer = await routes.answer(request)
      loop.execute { handler.value.send(answer, context: bound.value) }
    }
    phase = .answering(head, work)
  }

  private func releaseBody() {
    body = []
    register.release(held)
    held = 0
  }

  private var noRoom: Problem {
    Problem(503, "too many long requests are under way", fields: [("Retry-After", "1")])
  }

  private var tooLong: Problem { Problem(413, "the body of a request may have \(limits.body) bytes") }
}
