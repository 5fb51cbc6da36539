import Glibc

/// One accepted connection and the thread that serves it.
final class Connection: Sendable {
  private let socket: Int32
  private let stop: Int32
  private let number: Int
  private let journal: Journal
  private let respond: @Sendable (Request) -> Reply

  init(
    _ socket: Int32,
    stop: Int32,
    journal: Journal,
    respond: @escaping @Sendable (Request) -> Reply
  ) {
    self.socket = socket
    self.stop = stop
    self.journal = journal
    self.respond = respond
    number = journal.open()
    Socket.prepareAccepted(socket)
  }

  /// Serves requests until either side closes.
  func serve() {
    defer { close(socket) }
    var buffer: [UInt8] = []
    while true {
      switch nextRequest(&buffer) {
      case .stopped: return
      case .closed: return journal.record { $0.closedByClient += 1 }
      case .request(let request):
        journal.record { $0.requests.append(request) }
        let reply = respond(request)
        switch perform(reply) {
        case .closed: return journal.record { $0.closedByClient += 1 }
        case .stopped: return
        case .ready, .timedOut: break
        }
        guard reply.keepsConnection, request["connection"]?.lowercased() != "close" else { return }
      }
    }
  }

  private enum Incoming {
    case request(Request)
    case closed
    case stopped
  }

  private func nextRequest(_ buffer: inout [UInt8]) -> Incoming {
    let end = Array("\r\n\r\n".utf8)
    while true {
      if let start = buffer.indices.first(where: { buffer[$0...].starts(with: end) }) {
        guard var request = Request(head: Array(buffer[..<start]), connection: number) else { return .closed }
        let length = request["content-length"].flatMap { Int($0) } ?? 0
        let bodyStart = start + end.count
        if buffer.count >= bodyStart + length {
          request.body = Array(buffer[bodyStart..<bodyStart + length])
          buffer.removeFirst(bodyStart + length)
          return .request(request)
        }
      }
      let (bytes, event) = Socket.receive(from: socket, stop: stop)
      guard let bytes else { return event == .stopped ? .stopped : .closed }
      buffer += bytes
    }
  }

  private func perform(_ reply: Reply) -> Socket.Event {
    for step in reply.steps {
      let event = perform(step)
      if event == .closed || event == .stopped { return event }
    }
    return .ready
  }

  private func perform(_ step: Reply.Step) -> Socket.Event {
    switch step {
    case .send(let bytes): return Socket.send(bytes, to: socket, stop: stop)
    case .sendForever(let bytes):
      while true {
        let event = Socket.send(bytes, to: socket, stop: stop)
        guard event == .ready, Socket.wait(stop, for: POLLIN, stop: stop, milliseconds: 0) == .timedOut
        else { return event == .ready ? .stopped : event }
      }
    case .wait(let gate): return Socket.wait(socket, for: 0, stop: stop, gate: gate.descriptor)
    case .pause(let milliseconds):
      return Socket.wait(socket, for: 0, stop: stop, milliseconds: milliseconds)
    case .reset:
      Socket.resetOnClose(socket)
      return .stopped
    }
  }
}
