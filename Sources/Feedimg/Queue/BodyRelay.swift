import FeedimgModel
import FeedimgTransfer
import Synchronization

/// Hands a body on that comes in several parts, and counts it.
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
    /// Whether the present body is the image's.
    var isHandingOn = false
  }

  private let receiver: any BodyReceiving
  private let gate: TransferGate
  private let ticket: LoadQueue.Ticket
  /// Whether what has not come can be asked for by itself; not where an end was asked for as well.
  private let canGoOn: Bool
  /// Guards what has come so far; the transfer's thread adds to it.
  private let state = Mutex(State())

  init(
    _ request: DownloadRequest,
    _ receiver: any BodyReceiving,
    gate: TransferGate,
    ticket: LoadQueue.Ticket
  ) {
    canGoOn = request.fields["range"].map(Self.isOpen) ?? true
    self.receiver = receiver
    self.gate = gate
    self.ticket = ticket
  }

  /// How to go on; nil where nothing has come yet.
  var resumption: Resumption? {
    let (head, kept) = state.withLock { ($0.head, $0.start + $0.received) }
    return head.flatMap { resumption($0, kept) }
  }

  /// Whether a range reaches to the end of the image (RFC 9110 §14.1.2).
  private static func isOpen(_ range: String) -> Bool {
    let digits = range.dropFirst("bytes=".count).dropLast()
    return range.hasPrefix("bytes=") && range.hasSuffix("-") && !digits.isEmpty
      && digits.allSatisfy { $0.isASCII && $0.isNumber }
  }

  /// Whether the present request has been answered.
  var wasAnswered: Bool { state.withLock { $0.wasAnswered } }

  /// A request goes out, for the rest of the body if there is a resumption.
  func begin(_ resumption: Resumption?) {
    state.withLock { state in
      state.resumption = resumption
      (state.wasAnswered, state.isHandingOn) = (false, false)
    }
    if resumption == nil { receiver.requestBegins() }
  }

  func begin(_ head: ResponseHead) throws(LoadError) {
    gate.transferAnswered()
    gate.answered(ticket)
    let resumption = state.withLock { state in
      state.wasAnswered = true
      return state.resumption
    }
    guard let resumption else {
      // A second time only where nothing but a head has come.
      try receiver.begin(head)
      let range = head.status == 206 ? head.fields["content-range"].flatMap { ContentRange($0) } : nil
      if case .part(let part, _)? = range { state.withLock { $0.start = part.lowerBound } }
      return note(head)
    }
    switch resumption.step(head) {
    case .append: note(head)
    case .complete: break
    case .replace, .startOver, .answer:
      throw LoadError(
        .truncated,
        url: head.url,
        message: "the image changed while its transfer was interrupted"
      )
    }
  }

  func receive(_ bytes: UnsafeRawBufferPointer) throws(LoadError) {
    gate.transferBrought(bytes.count)
    let isHandingOn = state.withLock { state in
      if state.isHandingOn { state.received += bytes.count }
      return state.isHandingOn
    }
    if isHandingOn { try receiver.receive(bytes) }
  }

  /// From here on a stop costs what has come, unless it can be gone on with.
  private func note(_ head: ResponseHead) {
    state.withLock { state in
      state.head = head
      state.isHandingOn = true
    }
    gate.setStoppable(ticket, resumption(head, state.withLock(\.start) + 1) != nil)
  }

  private func resumption(_ head: ResponseHead, _ kept: Int) -> Resumption? {
    canGoOn ? Resumption(head, kept: kept, now: Int(SystemClock.seconds())) : nil
  }
}
