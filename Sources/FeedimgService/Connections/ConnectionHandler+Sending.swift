import FeedimgModel
import NIOCore
import NIOHTTP1

extension ConnectionHandler {
  /// Sends the response to the current request.
  func send(_ response: ServiceResponse, context: ChannelHandlerContext) {
    guard case .responding(let request, _) = phase else { return response.abandon() }
    guard response.fields.fields.allSatisfy(\.isWellFormed) else {
      response.abandon()
      return send(
        Problem(500, "the response has a field that cannot be sent").response,
        context: context
      )
    }
    if case .webSocket(let upgrade) = response.body { return open(upgrade, context: context) }
    if response.ownsBody, let length = response.length {
      guard hold(length) else { return send(noRoom.response, context: context) }
    }
    // In HTTP/1.0 only the end of the connection marks the end of a body of unknown length.
    let isOpenEnded = response.isEndless || response.length == nil && request.version != .http1_1
    endsAfterResponse = endsAfterResponse || !request.isKeepAlive || register.isDraining || isOpenEnded
    context.write(wrapOutboundOut(.head(head(of: response))), promise: nil)
    guard request.method != .HEAD, response.status != 204, response.status != 304 else {
      return send([], context: context)
    }
    switch response.body {
    case .bytes(let bytes): send(bytes, context: context)
    case .sealed(let body, let range): send(range, of: body, context: context)
    case .absent: send([], context: context)
    case .stream(let stream): send(stream, request, context: context)
    case .events(let reader): send(reader, request, context: context)
    case .webSocket: break
    }
  }

  /// Sends a problem at once and closes the connection, even if more of the request is still to arrive.
  func refuse(_ problem: Problem, withBody hasBody: Bool = true, context: ChannelHandlerContext) {
    phase = .closing
    endsAfterResponse = true
    let response = problem.response
    context.write(wrapOutboundOut(.head(head(of: response))), promise: nil)
    if hasBody, case .bytes(let bytes) = response.body {
      let buffer = context.channel.allocator.buffer(bytes: bytes)
      context.write(wrapOutboundOut(.body(.byteBuffer(buffer))), promise: nil)
    }
    expect(within: limits.closingTimeout, context: context)
    context.writeAndFlush(wrapOutboundOut(.end(nil))).assumeIsolated().whenComplete { _ in
      // Closing both sides would reset the connection, and a client that is still sending would lose the response.
      context.close(mode: .output, promise: nil)
    }
  }

  /// Closes the connection at once.
  func hangUp(context: ChannelHandlerContext) {
    if case .responding(_, let work) = phase { work?.cancel() }
    phase = .closing
    context.close(promise: nil)
  }

  /// Sets the deadline for the next step of the client.
  func expect(within time: TimeAmount, context: ChannelHandlerContext) {
    deadline.set(in: time, on: context.eventLoop) { [weak self] in self?.expire(context: context) }
  }

  private func expire(context: ChannelHandlerContext) {
    if case .receiving = phase {
      refuse(Problem(408, "the request took too long to arrive"), context: context)
    } else {
      hangUp(context: context)
    }
  }

  private func head(of response: ServiceResponse) -> HTTPResponseHead {
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
    if endsAfterResponse {
      headers.append(("Connection", "close"))
    } else if case .responding(let request, _) = phase, request.version == .http1_0 {
      // Without this field a client of HTTP/1.0 would wait for the end of the connection (RFC 9112 §9.3).
      headers.append(("Connection", "keep-alive"))
    }
    return HTTPResponseHead(
      version: .http1_1,
      status: StatusPhrase.status(response.status),
      headers: HTTPHeaders(headers)
    )
  }

  /// Sends bytes chunk by chunk as the client takes them, and ends the response.
  private func send(_ bytes: ArraySlice<UInt8>, context: ChannelHandlerContext) {
    guard case .responding = phase else { return }
    expect(within: limits.stall, context: context)
    let (chunk, rest) = (bytes.prefix(limits.chunk), bytes.dropFirst(limits.chunk))
    let buffer = chunk.isEmpty ? ByteBuffer() : context.channel.allocator.buffer(bytes: chunk)
    send(.byteBuffer(buffer), isLast: rest.isEmpty, context: context) { self.send(rest, context: context) }
  }

  /// Sends a part of a sealed body chunk by chunk as the client takes them, and ends the response.
  private func send(_ range: Range<Int>, of body: SealedBody, context: ChannelHandlerContext) {
    guard case .responding = phase else { return }
    expect(within: limits.stall, context: context)
    let (chunk, rest) = (range.prefix(limits.chunk), range.dropFirst(limits.chunk))
    // The closure keeps the body until the client has taken the chunk.
    send(.fileRegion(body.region(chunk)), isLast: rest.isEmpty, context: context) {
      self.send(rest, of: body, context: context)
    }
  }

  /// Sends one chunk of a body of known length, then the rest.
  ///
  /// - Parameters:
  ///   - chunk: Empty only for a response that ends without more bytes.
  ///   - isLast: Whether the response ends with this chunk.
  ///   - context: That of this handler.
  ///   - sendRest: Called after the client has taken the chunk, unless it is the last one.
  private func send(
    _ chunk: IOData,
    isLast: Bool,
    context: ChannelHandlerContext,
    sendRest: @escaping () -> Void
  ) {
    let sent = context.eventLoop.makePromise(of: Void.self)
    let isEmpty = chunk.readableBytes == 0
    if !isEmpty { context.write(wrapOutboundOut(.body(chunk)), promise: sent) }
    // A promise for the end would cost a write of zero bytes after a file.
    if isLast { context.write(wrapOutboundOut(.end(nil)), promise: isEmpty ? sent : nil) }
    context.flush()
    sent.futureResult.assumeIsolated().whenSuccess {
      if isLast { return self.finish(context: context) }
      // A call from here would recurse for each chunk that the socket takes at once.
      context.eventLoop.assumeIsolated().execute { sendRest() }
    }
  }

  private func finish(context: ChannelHandlerContext) {
    guard case .responding = phase else { return }
    deadline.clear()
    if endsAfterResponse {
      phase = .closing
      context.close(promise: nil)
    } else {
      proceed(context: context)
    }
  }

  /// Sends events until they end or the client disconnects.
  private func send(_ reader: EventReader, _ request: HTTPRequestHead, context: ChannelHandlerContext) {
    context.flush()
    let loop = context.eventLoop
    let (handler, bound) = (NIOLoopBound(self, eventLoop: loop), NIOLoopBound(context, eventLoop: loop))
    let work = Task(executorPreference: TaskThread.executor) {
      for await text in reader.texts {
        let sent = loop.makePromise(of: Void.self)
        loop.execute { handler.value.send(Array(text.utf8)[...], sent, context: bound.value) }
        guard (try? await sent.futureResult.get()) != nil else { return }
      }
      loop.execute { handler.value.send([], context: bound.value) }
    }
    phase = .responding(request, work)
  }

  /// Sends a body as it arrives and as fast as the client takes it; closes the connection if the body is interrupted.
  private func send(_ stream: BodyStream, _ request: HTTPRequestHead, context: ChannelHandlerContext) {
    context.flush()
    let loop = context.eventLoop
    let (handler, bound) = (NIOLoopBound(self, eventLoop: loop), NIOLoopBound(context, eventLoop: loop))
    register.streams.begin(stream.body)
    let work = Task(executorPreference: TaskThread.executor) { [register] in
      defer { register.streams.end(stream.body) }
      let isWhole = await withTaskCancellationHandler {
        await stream.sendPieces { bytes in
          let sent = loop.makePromise(of: Void.self)
          loop.execute { handler.value.send(bytes, sent, context: bound.value) }
          return (try? await sent.futureResult.get()) != nil
        }
      } onCancel: {
        stream.leave()
      }
      if !isWhole { stream.leave() }
      loop.execute {
        if isWhole {
          handler.value.send([], context: bound.value)
        } else {
          handler.value.hangUp(context: bound.value)
        }
      }
    }
    phase = .responding(request, work)
  }

  /// Sends one piece of a body that has no end yet.
  private func send(
    _ bytes: ArraySlice<UInt8>,
    _ sent: EventLoopPromise<Void>,
    context: ChannelHandlerContext
  ) {
    guard case .responding = phase else { return sent.fail(ChannelError.alreadyClosed) }
    expect(within: limits.stall, context: context)
    sent.futureResult.assumeIsolated().whenSuccess { self.deadline.clear() }
    register.noteCopied(bytes.count)
    let buffer = context.channel.allocator.buffer(bytes: bytes)
    context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(buffer))), promise: sent)
  }
}
