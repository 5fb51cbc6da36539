import FeedimgModel
import NIOCore
import NIOHTTP1

extension ConnectionHandler {
  /// Hands out the answer to the request that is under way.
  func send(_ answer: ServiceAnswer, context: ChannelHandlerContext) {
    guard case .answering(let request, _) = phase else { return answer.abandon() }
    // A client of HTTP/1.0 knows the end of what has no length by that of the connection alone.
    let isOpenEnded = answer.isEndless || answer.length == nil && request.version != .http1_1
    endsAfterAnswer = endsAfterAnswer || !request.isKeepAlive || register.isDraining || isOpenEnded
    let hasBody = request.method != .HEAD && answer.status != 204 && answer.status != 304
    // Behind the word that the client may go on, the channel may still have that to send.
    let mayBegin = !request.headers.contains(name: "Expect")
    if mayBegin, let bytes = answer.whole, begin(answer, context: context) {
      return pass(on: hasBody ? bytes : [], answer.copy, context: context)
    }
    guard answer.fields.fields.allSatisfy(\.isWellFormed) else {
      answer.abandon()
      // The encoder would send nothing at all.
      return send(Problem(500, "the answer has a field that cannot be sent").answer, context: context)
    }
    context.write(wrapOutboundOut(.head(head(of: answer))), promise: nil)
    switch answer.body {
    case .bytes(let bytes): send(hasBody ? bytes : [], context: context)
    case .absent: send([], context: context)
    case .stream(let stream):
      if hasBody { hand(on: stream, request, context: context) } else { send([], context: context) }
    case .events(let reader):
      if hasBody { tell(reader, request, context: context) } else { send([], context: context) }
    }
  }

  /// Answers at once and ends the connection, however much of the request is still to come.
  func refuse(_ problem: Problem, withBody hasBody: Bool = true, context: ChannelHandlerContext) {
    phase = .leaving
    endsAfterAnswer = true
    let answer = problem.answer
    context.write(wrapOutboundOut(.head(head(of: answer))), promise: nil)
    if hasBody, case .bytes(let bytes) = answer.body {
      let buffer = context.channel.allocator.buffer(bytes: bytes)
      context.write(wrapOutboundOut(.body(.byteBuffer(buffer))), promise: nil)
    }
    expect(within: limits.farewell, context: context)
    context.writeAndFlush(wrapOutboundOut(.end(nil))).assumeIsolated().whenComplete { _ in
      // Closing the whole of it would take the answer away from a client that is still sending.
      context.close(mode: .output, promise: nil)
    }
  }

  /// Ends the connection at once.
  func hangUp(context: ChannelHandlerContext) {
    if case .answering(_, let work) = phase { work?.cancel() }
    phase = .leaving
    context.close(promise: nil)
  }

  /// Gives the client so long for its next step.
  func expect(within time: TimeAmount, context: ChannelHandlerContext) {
    deadline.set(in: time, on: context.eventLoop) { [weak self] in self?.expire(context: context) }
  }

  private func expire(context: ChannelHandlerContext) {
    if case .receiving = phase {
      refuse(Problem(408, "the request took too long to come"), context: context)
    } else {
      hangUp(context: context)
    }
  }

  private func head(of answer: ServiceAnswer) -> HTTPResponseHead {
    HTTPResponseHead(
      version: .http1_1,
      status: StatusPhrase.status(answer.status),
      headers: HTTPHeaders(((answer.lines?.fields ?? []) + fields(of: answer)).map { ($0.name, $0.value) })
    )
  }

  /// All fields of an answer but those whose text is known.
  private func fields(of answer: ServiceAnswer) -> [HTTPFields.Field] {
    var fields = answer.fields.fields
    // What another server answered has its own date (RFC 9110 §6.6.1).
    if !fields.contains(where: { $0.isNamed("date") }) {
      fields.append(HTTPFields.Field(name: "Date", value: date.now()))
    }
    if let length = answer.length, answer.status != 204, answer.status != 304 {
      fields.append(HTTPFields.Field(name: "Content-Length", value: String(length)))
    }
    if endsAfterAnswer {
      fields.append(HTTPFields.Field(name: "Connection", value: "close"))
    } else if case .answering(let request, _) = phase, request.version == .http1_0 {
      // Else a client of HTTP/1.0 would wait for the end of the connection (RFC 9112 §9.3).
      fields.append(HTTPFields.Field(name: "Connection", value: "keep-alive"))
    }
    return fields
  }

  /// Writes the head of an answer that is there in whole; false where it takes the longer way.
  private func begin(_ answer: ServiceAnswer, context: ChannelHandlerContext) -> Bool {
    output?.setHead(answer.status, answer.lines, fields(of: answer)) ?? false
  }

  /// Sends bytes from where they are, as far as the socket takes them, and the rest piece by piece.
  private func pass(on bytes: ArraySlice<UInt8>, _ copy: SealedBody?, context: ChannelHandlerContext) {
    guard case .answering = phase, let rest = output?.write(bytes, copy) else { return }
    if rest.isEmpty, output?.isEmpty ?? true { return finish(context: context) }
    expect(within: limits.stall, context: context)
    register.noteCopied(min(rest.count, limits.chunk))
    // Who reads slowly does not keep a copy that nobody else has any more; the bytes are there all the same.
    output?.pass(on: rest.prefix(limits.chunk)).assumeIsolated().whenSuccess { [weak copy] in
      // By the loop, since what is taken at once would call itself again and again.
      context.eventLoop.assumeIsolated().execute {
        self.pass(on: rest.dropFirst(self.limits.chunk), copy, context: context)
      }
    }
  }

  /// Sends bytes chunk by chunk, as fast as the client takes them.
  private func send(_ bytes: ArraySlice<UInt8>, context: ChannelHandlerContext) {
    guard case .answering = phase else { return }
    expect(within: limits.stall, context: context)
    if bytes.count > limits.chunk {
      let buffer = context.channel.allocator.buffer(bytes: bytes.prefix(limits.chunk))
      context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(buffer)))).assumeIsolated().whenSuccess {
        // By the loop, since what is taken at once would call itself again and again.
        context.eventLoop.assumeIsolated().execute {
          self.send(bytes.dropFirst(self.limits.chunk), context: context)
        }
      }
      return
    }
    if !bytes.isEmpty {
      let buffer = context.channel.allocator.buffer(bytes: bytes)
      context.write(wrapOutboundOut(.body(.byteBuffer(buffer))), promise: nil)
    }
    context.writeAndFlush(wrapOutboundOut(.end(nil))).assumeIsolated().whenSuccess {
      self.finish(context: context)
    }
  }

  private func finish(context: ChannelHandlerContext) {
    guard case .answering = phase else { return }
    deadline.clear()
    if endsAfterAnswer {
      phase = .leaving
      context.close(promise: nil)
    } else {
      proceed(context: context)
    }
  }

  /// Tells events until they end or the client leaves.
  private func tell(_ reader: EventReader, _ request: HTTPRequestHead, context: ChannelHandlerContext) {
    context.flush()
    let loop = context.eventLoop
    let (handler, bound) = (NIOLoopBound(self, eventLoop: loop), NIOLoopBound(context, eventLoop: loop))
    let work = Task {
      for await text in reader.texts {
        let told = loop.makePromise(of: Void.self)
        loop.execute { handler.value.tell(Array(text.utf8)[...], told, context: bound.value) }
        guard (try? await told.futureResult.get()) != nil else { return }
      }
      loop.execute { handler.value.send([], context: bound.value) }
    }
    phase = .answering(request, work)
  }

  /// Sends what comes, as fast as the client takes it, and hangs up where it breaks off.
  private func hand(on stream: AnswerStream, _ request: HTTPRequestHead, context: ChannelHandlerContext) {
    context.flush()
    let loop = context.eventLoop
    let (handler, bound) = (NIOLoopBound(self, eventLoop: loop), NIOLoopBound(context, eventLoop: loop))
    register.arriving.begin(stream.body)
    let work = Task { [register] in
      defer { register.arriving.end(stream.body) }
      let isWhole = await withTaskCancellationHandler {
        await stream.handOn { bytes in
          let told = loop.makePromise(of: Void.self)
          loop.execute { handler.value.tell(bytes, told, context: bound.value) }
          return (try? await told.futureResult.get()) != nil
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
    phase = .answering(request, work)
  }

  private func tell(
    _ bytes: ArraySlice<UInt8>,
    _ told: EventLoopPromise<Void>,
    context: ChannelHandlerContext
  ) {
    guard case .answering = phase else { return told.fail(ChannelError.alreadyClosed) }
    expect(within: limits.stall, context: context)
    told.futureResult.assumeIsolated().whenSuccess { self.deadline.clear() }
    register.noteCopied(bytes.count)
    let buffer = context.channel.allocator.buffer(bytes: bytes)
    context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(buffer))), promise: told)
  }
}
