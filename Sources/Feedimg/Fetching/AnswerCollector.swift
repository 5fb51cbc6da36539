import FeedimgCache
import FeedimgModel
import Synchronization

/// Takes an answer of any kind: to those who wait for it, and into the cache if it may be kept.
final class AnswerCollector: BodyReceiving {
  private struct State {
    var requestedAt: Double
    var answer: StoredAnswer?
    var arrival: Arrival?
    var writer: (any ImageWriting)?
    var received = 0
    var shelter = BodyShelter()
  }

  private let exchange: FetchExchange
  private let run: LoadRun
  /// Guards what has come; the transfer's thread adds, and the exchange reads when the transfer is over.
  private let state: Mutex<State>

  init(_ exchange: FetchExchange, _ run: LoadRun) {
    (self.exchange, self.run) = (exchange, run)
    state = Mutex(State(requestedAt: exchange.cache.loader.clock()))
  }

  func requestBegins() {
    let now = exchange.cache.loader.clock()
    state.withLock { $0.requestedAt = now }
  }

  func begin(_ head: ResponseHead) throws(LoadError) {
    if let standIn = exchange.failure(head) { throw standIn }
    let answer = StoredAnswer(
      head: head,
      varied: Vary(head.fields).select(from: exchange.request.fields),
      requestedAt: state.withLock { $0.requestedAt },
      respondedAt: exchange.cache.loader.clock()
    )
    let begun = try begun(answer)
    // What says that the stored answer is right is for us.
    let arrival = exchange.isAnswered(by: head) ? nil : begun ?? Arrival(answer)
    let writer = exchange.keeps(answer) ? try? exchange.cache.shelf.makeWriter() : nil
    let old = state.withLock { state in
      defer {
        state = State(requestedAt: state.requestedAt, answer: answer, arrival: arrival, writer: writer)
      }
      return state.writer
    }
    old?.discard()
    if let arrival, begun == nil { run.arrive(arrival) }
  }

  /// What those who wait have been handed of an earlier answer, whose place another takes.
  ///
  /// - Throws: `truncated` where that is not of the same version.
  private func begun(_ answer: StoredAnswer) throws(LoadError) -> Arrival? {
    guard let arrival = run.arrival else { return nil }
    let (old, new) = (Validators(of: arrival.answer), Validators(of: answer))
    guard arrival.answer.head.status == answer.head.status, old.rangeCondition != nil,
      old.isSameVersion(as: new)
    else {
      throw LoadError(
        .truncated,
        url: exchange.request.url,
        message: "the answer changed while its transfer was interrupted"
      )
    }
    return arrival
  }

  func receive(_ bytes: UnsafeRawBufferPointer) throws(LoadError) {
    let (arrival, writer, shelter, position) = state.withLock { state in
      defer { state.received += bytes.count }
      return (state.arrival, state.writer, state.shelter, state.received)
    }
    let total = arrival?.answer.head.contentLength.map { ByteCount($0) }
    run.report(LoadProgress(received: ByteCount(position + bytes.count), total: total))
    exchange.cache.loader.transfers.tell()
    arrival?.body.append(bytes, at: position)
    do throws(CacheError) {
      try writer?.write(bytes)
      if let writer, let arrival { shelter.note(writer, holds: position + bytes.count, of: arrival.body) }
    } catch {
      // What cannot be kept is handed on all the same.
      state.withLock { $0.writer = nil }
      writer?.discard()
    }
  }

  /// Ends an answer that is whole, and keeps it.
  ///
  /// - Returns: The head, with when it came.
  /// - Throws: ``LoadError`` where there was no answer, or its body has another length than announced.
  func finish() throws(LoadError) -> StoredAnswer {
    let (answer, received) = state.withLock { ($0.answer, $0.received) }
    guard let answer else {
      throw LoadError(.malformed, url: exchange.request.url, message: "the server sent no answer")
    }
    if !exchange.request.isHead, let total = answer.head.bodyLength, received != total {
      let message = "the body ended after \(received) of \(total) bytes"
      throw LoadError(.truncated, url: exchange.request.url, message: message)
    }
    let writer = state.withLock { $0.writer.take() }
    if let writer {
      // What the disk does not take is fetched again.
      _ = try? exchange.cache.shelf.keep(writer, answer, to: exchange.request)
      writer.discard()
    }
    return answer
  }

  /// Leaves nothing behind unless the answer was finished.
  func discard() { state.withLock { $0.writer.take() }?.discard() }
}
