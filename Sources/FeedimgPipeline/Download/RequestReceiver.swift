import FeedimgModel

/// Receives the response to one request of an ``IncomingResponse``.
struct RequestReceiver: BodyReceiving {
  let incoming: IncomingResponse
  let onEvent: IncomingResponse.Listener
  /// Counts the transferred bytes; nil if usage is not counted.
  let tally: UsageMeter.Tally?

  func begin(_ head: ResponseHead) throws(LoadError) { try incoming.begin(head, onEvent) }

  func receive(_ bytes: UnsafeRawBufferPointer) throws(LoadError) { try incoming.receive(bytes, onEvent) }

  func note(_ step: TransferStep) {
    switch step {
    case .moved(let count): tally?.add(count)
    case .requested:
      tally?.request()
      incoming.reporter?.report(.requested)
    case .redirected(let url):
      tally?.goOn(at: url)
      incoming.reporter?.report(.redirected(url))
      onEvent(.redirected(url))
    }
  }
}
