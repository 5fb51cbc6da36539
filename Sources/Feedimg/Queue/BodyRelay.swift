import FeedimgModel
import FeedimgTransfer
import Synchronization

/// Hands a body on that comes in several parts, and counts it.
///
/// Nothing of an answer is handed on before the gate has agreed that its transfer keeps its place, and no byte once it
/// has been told to stop: what was handed on can be gone on with, or its transfer is not stopped.
final class BodyRelay: BodyReceiving {
  private struct State {
    /// The head that was handed on, or that of the last part.
    var head: ResponseHead?
    var received = 0
    /// Where the body begins in the image: behind what is kept, where the request itself asks for the rest.
    var start = 0
    /// What the present request goes on with; nil where it asks for the whole.
    var resumption: Resumption?
    var wasAnswered = false
    /// Whether the server has no rest of what came, so that it is to be asked for all.
    var startsOver = false
    /// What ends the present request from outside.
    var attempt: TransferAttempt?
    /// Whether the present body is the image's.
    var isHandingOn = false
    /// Whether an answer is handed on that cannot be gone on with.
    var isCommitted = false
    /// How often such an answer may still be given up for another path, lest one that takes long never ends.
    var restartsLeft = 2
  }

  private let url: ImageURL
  private let receiver: any BodyReceiving
  private let gate: TransferGate
  private let ticket: LoadQueue.Ticket
  /// Tells who has the body as it comes.
  private let run: LoadRun
  /// Whether what has not come can be asked for by itself; not where an end was asked for as well.
  private let canGoOn: Bool
  /// Guards what has come so far; the transfer's thread adds to it.
  private let state = Mutex(State())

  init(
    _ request: DownloadRequest,
    _ receiver: any BodyReceiving,
    gate: TransferGate,
    ticket: LoadQueue.Ticket,
    run: LoadRun
  ) {
    canGoOn = request.fields["range"].map(Self.isOpen) ?? true
    url = request.url
    self.receiver = receiver
    self.gate = gate
    self.ticket = ticket
    self.run = run
  }

  /// How to go on; nil where nothing has come yet.
  var resumption: Resumption? {
    let (head, kept) = state.withLock { ($0.head, $0.start + $0.received) }
    return head.flatMap { resumption($0, kept) }
  }

  /// The head of what has come where nothing is missing, so that nothing is left to go on with; else nil.
  var whole: ResponseHead? {
    state.withLock { state in
      guard let head = state.head, state.received > 0 else { return nil }
      return head.wholeLength == state.start + state.received ? head : nil
    }
  }

  /// Whether a range reaches to the end of the image (RFC 9110 §14.1.2).
  private static func isOpen(_ range: String) -> Bool {
    let digits = range.dropFirst("bytes=".count).dropLast()
    return range.hasPrefix("bytes=") && range.hasSuffix("-") && !digits.isEmpty
      && digits.allSatisfy { $0.isASCII && $0.isNumber }
  }

  /// Whether the present request has been answered.
  var wasAnswered: Bool { state.withLock { $0.wasAnswered } }

  /// A request goes out, for the rest of the body if there is a resumption, else for all of it.
  func begin(_ resumption: Resumption?, _ attempt: TransferAttempt) {
    state.withLock { state in
      let restartsLeft = state.restartsLeft
      if resumption == nil { state = State() }
      (state.resumption, state.attempt) = (resumption, attempt)
      state.wasAnswered = false
      (state.isHandingOn, state.isCommitted) = (false, false)
      (state.restartsLeft, state.startsOver) = (restartsLeft, false)
    }
    receiver.requestBegins()
  }

  /// Whether the present request has failed only so that all is asked for.
  var startsOver: Bool { state.withLock { $0.startsOver } }

  /// Ends the present request, so that it goes out anew where packets go now.
  ///
  /// What others have been handed of an answer that cannot be gone on with would be torn so: it is left to its
  /// connection, which may well be dead.
  func leavePath(_ attempt: TransferAttempt) {
    let isToStop = state.withLock { state in
      // A request that is still to go out takes the new path by itself.
      guard state.attempt === attempt else { return false }
      let isToStop = !state.isCommitted || state.restartsLeft > 0 && !run.hasAudience
      if isToStop, state.isCommitted { state.restartsLeft -= 1 }
      attempt.noteMove(isToStop: isToStop)
      return isToStop
    }
    if isToStop { attempt.stop() }
  }

  func begin(_ head: ResponseHead) throws(LoadError) {
    gate.transferAnswered(by: url.host)
    let resumption = state.withLock { state in
      state.wasAnswered = true
      return state.resumption
    }
    switch resumption?.step(head) ?? .replace {
    case .replace:
      // At first; or what came before is void, as the image has changed, or no two answers of its server have one tag.
      let start = head.part?.range.lowerBound ?? 0
      try keepPlace(head, from: start)
      try receiver.begin(head)
      note(head, from: start, received: 0)
    case .append:
      let start = state.withLock(\.start)
      try keepPlace(head, from: start)
      note(head, from: start)
    case .complete: break
    case .answer:
      // It says nothing of what has come, and what it asks for, such as to wait, is to be heeded.
      let now = SystemClock.seconds()
      throw StoredAnswer(head: head, requestedAt: now, respondedAt: now).refusal(of: url)
    case .startOver:
      state.withLock { state in (state.head, state.startsOver) = (nil, true) }
      throw LoadError(
        .truncated,
        url: head.url,
        message: "the image changed while its transfer was interrupted"
      )
    }
  }

  func receive(_ bytes: UnsafeRawBufferPointer) throws(LoadError) {
    let (isHandingOn, isStopped) = state.withLock { state in
      let isStopped = state.attempt?.isStopped ?? true
      if state.isHandingOn, !isStopped { state.received += bytes.count }
      return (state.isHandingOn, isStopped)
    }
    // A head alone brings nothing that the link would be needed for.
    gate.transferBrought(bytes.count, by: ticket)
    if isStopped { throw stopped }
    if isHandingOn { try receiver.receive(bytes) }
  }

  /// From here on a stop costs what has come, unless it can be gone on with.
  ///
  /// - Throws: `cancelled` where the stop has been decided: then nothing of the answer is handed on.
  private func keepPlace(_ head: ResponseHead, from start: Int) throws(LoadError) {
    // Who may send everything again would do so each time that something more urgent comes.
    let isStoppable = resumption(head, start + 1)?.isPromised == true
    guard gate.setStoppable(ticket, isStoppable) else { throw stopped }
    let isStopped = state.withLock { state in
      state.isCommitted = !isStoppable
      return state.attempt?.isStopped ?? true
    }
    if isStopped { throw stopped }
  }

  private func note(_ head: ResponseHead, from start: Int, received: Int? = nil) {
    state.withLock { state in
      (state.head, state.start, state.isHandingOn) = (head, start, true)
      state.received = received ?? state.received
    }
  }

  private var stopped: LoadError {
    LoadError(.cancelled, message: "the transfer gives way to a more urgent one, or to another path")
  }

  private func resumption(_ head: ResponseHead, _ kept: Int) -> Resumption? {
    canGoOn ? Resumption(head, kept: kept, now: Int(SystemClock.seconds())) : nil
  }
}

extension ResponseHead {
  /// What an answer 206 brings a part of, with the length of the whole where that is known; nil for others.
  fileprivate var part: (range: ClosedRange<Int>, whole: Int?)? {
    guard status == 206,
      case .part(let range, let whole)? = fields["content-range"].flatMap({ ContentRange($0) })
    else { return nil }
    return (range, whole)
  }

  /// The length of the whole image, as far as it is known.
  fileprivate var wholeLength: Int? { part.map(\.whole) ?? contentLength }
}
