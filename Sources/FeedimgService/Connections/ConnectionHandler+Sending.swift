import FeedimgModel
import Glibc
import NIOCore
import NIOHTTP1

extension ConnectionHandler {
  /// Sends the response to the current request.
  func send(_ response: ServiceResponse, context: ChannelHandlerContext) {
    guard case .responding(let request, _) = state.phase else { return response.abandon() }
    guard response.fields.fields.allSatisfy(\.isWellFormed) else {
      response.abandon()
      return send(
        Problem(500, "the response has a field that cannot be sent").response,
        context: context
      )
    }
    if case .webSocket(let upgrade) = response.body { return open(upgrade, context: context) }
    if response.ownsBody, let length = response.length, !body.hold(length) {
      return send(RequestBody.noRoom.response, context: context)
    }
    // In HTTP/1.0 only the end of the connection marks the end of a body of unknown length.
    let isOpenEnded = response.isEndless || response.length == nil && request.version != .http1_1
    if !request.isKeepAlive || register.isDraining || isOpenEnded { state.endsAfterResponse = true }
    context.write(wrapOutboundOut(.head(head(of: response))), promise: nil)
    guard request.method != .HEAD, response.status != 204, response.status != 304 else {
      return end(context: context)
    }
    switch response.body {
    case .bytes(let bytes): send(bytes, context: context)
    case .absent: end(context: context)
    case .stream(let stream):
      send(to: request, context: context, leave: stream.leave) { send in await stream.sendPieces(send) }
    case .events(let texts):
      send(to: request, context: context) { send in
        for await text in texts { guard await send(Array(text.utf8)[...]) else { return false } }
        return true
      }
    case .webSocket: break
    }
  }

  /// Sends a problem at once and closes the connection, even if more of the request is still to arrive.
  func refuse(_ problem: Problem, withBody hasBody: Bool = true, context: ChannelHandlerContext) {
    state.phase = .closing
    state.endsAfterResponse = true
    let response = problem.response
    context.write(wrapOutboundOut(.head(head(of: response))), promise: nil)
    if hasBody, case .bytes(let bytes) = response.body {
      let buffer = context.channel.allocator.buffer(bytes: bytes)
      context.write(wrapOutboundOut(.body(.byteBuffer(buffer))), promise: nil)
    }
    expect(within: rules.limits.closingTimeout, context: context)
    context.writeAndFlush(wrapOutboundOut(.end(nil))).assumeIsolated().whenComplete { _ in
      // Closing both sides would reset the connection, and a client that is still sending would lose the response.
      context.close(mode: .output, promise: nil)
    }
  }

  /// Closes the connection at once.
  func hangUp(context: ChannelHandlerContext) {
    state.work?.cancel()
    state.phase = .closing
    context.close(promise: nil)
  }

  /// Sets the deadline for the next step of the client.
  func expect(within time: TimeAmount, context: ChannelHandlerContext) {
    deadline.set(in: time, on: context.eventLoop) { [weak self] in self?.expire(context: context) }
  }

  private func expire(context: ChannelHandlerContext) {
    if case .receiving = state.phase {
      refuse(Problem(408, "the request took too long to arrive"), context: context)
    } else {
      hangUp(context: context)
    }
  }

  /// The head of the response to the current request.
  func head(of response: ServiceResponse) -> HTTPResponseHead {
    var headers: [(String, String)] = []
    headers.reserveCapacity(response.fields.fields.count + 3)
    for field in response.fields.fields { headers.append((field.name, field.value)) }
    // A response that another server made has the date of that server (RFC 9110 §6.6.1).
    if !response.fields.fields.contains(where: { $0.isNamed("date") }) {
      headers.append(("Date", date.now()))
    }
    if let length = response.length, response.status != 204, response.status != 304 {
      headers.append(("Content-Length", String(length)))
    }
    if state.endsAfterResponse {
      headers.append(("Connection", "close"))
    } else if case .responding(let request, _) = state.phase, request.version == .http1_0 {
      // Without this field a client of HTTP/1.0 would wait for the end of the connection (RFC 9112 §9.3).
      headers.append(("Connection", "keep-alive"))
    }
    return HTTPResponseHead(
      version: .http1_1,
      status: HTTPResponseStatus(registered: response.status),
      headers: HTTPHeaders(headers)
    )
  }

  /// Sends a body chunk by chunk as the client takes it, and ends the response.
  private func send(_ bytes: ArraySlice<UInt8>, context: ChannelHandlerContext) {
    guard case .responding = state.phase else { return }
    expect(within: rules.limits.stall, context: context)
    let (chunk, rest) = (bytes.prefix(rules.limits.chunk), bytes.dropFirst(rules.limits.chunk))
    let sent = context.eventLoop.makePromise(of: Void.self)
    if !chunk.isEmpty {
      let buffer = context.channel.allocator.buffer(bytes: chunk)
      context.write(wrapOutboundOut(.body(.byteBuffer(buffer))), promise: rest.isEmpty ? nil : sent)
    }
    if rest.isEmpty { context.write(wrapOutboundOut(.end(nil)), promise: sent) }
    context.flush()
    sent.futureResult.assumeIsolated().whenSuccess {
      if rest.isEmpty { return self.finish(context: context) }
      // A call from here would recurse for each chunk that the socket takes at once.
      context.eventLoop.assumeIsolated().execute { self.send(rest, context: context) }
    }
  }

  /// Ends the response.
  private func end(context: ChannelHandlerContext) { send([], context: context) }

  func finish(context: ChannelHandlerContext) {
    guard case .responding = state.phase else { return }
    deadline.clear()
    if state.endsAfterResponse {
      state.phase = .closing
      context.close(promise: nil)
    } else {
      proceed(context: context)
    }
  }

  /// Sends one piece of a body; returns false if the client has disconnected.
  private typealias PieceSender = @Sendable (ArraySlice<UInt8>) async -> Bool

  /// Sends a body piece by piece as fast as the client takes it; closes the connection if the body is interrupted.
  ///
  /// - Parameters:
  ///   - request: The request of the client.
  ///   - context: That of this handler.
  ///   - leave: Called when the client disconnects or the body is interrupted.
  ///   - sendPieces: Sends all pieces; returns whether the body is complete.
  private func send(
    to request: HTTPRequestHead,
    context: ChannelHandlerContext,
    leave: @escaping @Sendable () -> Void = {},
    _ sendPieces: @escaping @Sendable (PieceSender) async -> Bool
  ) {
    context.flush()
    let loop = context.eventLoop
    let (handler, bound) = (NIOLoopBound(self, eventLoop: loop), NIOLoopBound(context, eventLoop: loop))
    let work = Task(executorPreference: TaskThread.executor) {
      let isWhole = await withTaskCancellationHandler {
        await sendPieces { bytes in
          let sent = loop.makePromise(of: Void.self)
          loop.execute { handler.value.send(bytes, sent, context: bound.value) }
          return (try? await sent.futureResult.get()) != nil
        }
      } onCancel: {
        leave()
      }
      if !isWhole { leave() }
      loop.execute {
        if isWhole {
          handler.value.end(context: bound.value)
        } else {
          handler.value.hangUp(context: bound.value)
        }
      }
    }
    state.phase = .responding(request, work)
  }

  /// Sends one piece of a body that has no end yet.
  private func send(
    _ bytes: ArraySlice<UInt8>,
    _ sent: EventLoopPromise<Void>,
    context: ChannelHandlerContext
  ) {
    guard case .responding = state.phase else { return sent.fail(ChannelError.alreadyClosed) }
    expect(within: rules.limits.stall, context: context)
    sent.futureResult.assumeIsolated().whenSuccess { self.deadline.clear() }
    let buffer = context.channel.allocator.buffer(bytes: bytes)
    context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(buffer))), promise: sent)
  }
}

/// The value of the field `Date` (RFC 9110 §6.6.1).
struct DateField {
  private var second = -1
  private var latest = ""

  /// The current date, formatted once a second.
  mutating func now() -> String {
    let now = time(nil)
    if now != second { (second, latest) = (now, HTTPDate.text(now)) }
    return latest
  }
}
