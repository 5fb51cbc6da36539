import FeedimgModel
import Synchronization

/// Publishes events to all readers; drops a reader that is too slow, without delay for the others.
final class EventHub: Sendable {
  private struct State {
    var log: EventLog
    var readers: [Int: AsyncStream<String>.Continuation] = [:]
    var lastNumber = 0
    var isEnded = false
  }

  /// Guards the log and the readers; streams are ended outside, as that calls back.
  private let state: Mutex<State>
  /// The number of texts that may wait for a reader.
  private let capacity: Int

  /// - Parameters:
  ///   - log: The events so far.
  ///   - capacity: The number of events that may wait for a reader before it is dropped.
  init(_ log: EventLog, capacity: Int = 64) {
    state = Mutex(State(log: log))
    self.capacity = capacity
  }

  /// The number of readers.
  var readerCount: Int { state.withLock { $0.readers.count } }

  /// Publishes a state that has changed, or an occurrence, as one line of data.
  func publish(_ kind: String, _ data: String, isState: Bool = true) {
    let slow = state.withLock { state -> [AsyncStream<String>.Continuation] in
      guard let event = state.log.append(kind, data, isState: isState) else { return [] }
      let slow = state.readers.filter { _, reader in
        if case .enqueued = reader.yield(event.text) { return false }
        return true
      }
      for number in slow.keys { state.readers[number] = nil }
      return Array(slow.values)
    }
    for reader in slow { reader.finish() }
  }

  /// Adds a reader, which gets the events after the last one that it has, and then new ones.
  func subscribe(after id: String?) -> AsyncStream<String> {
    let (texts, reader) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingOldest(capacity))
    let (number, isEnded) = state.withLock { state in
      state.lastNumber += 1
      // The first text shows at once that the connection works, and sets the client's delay for a reconnect.
      reader.yield("retry: 1000\n\n" + state.log.missed(since: id).map(\.text).joined())
      if !state.isEnded { state.readers[state.lastNumber] = reader }
      return (state.lastNumber, state.isEnded)
    }
    reader.onTermination = { [weak self] _ in self?.leave(number) }
    if isEnded { reader.finish() }
    return texts
  }

  /// Ends all readers, later ones included.
  func end() {
    let readers = state.withLock { state in
      state.isEnded = true
      defer { state.readers = [:] }
      return Array(state.readers.values)
    }
    for reader in readers { reader.finish() }
  }

  private func leave(_ number: Int) {
    // The result is released outside the lock, as that may call back.
    _ = state.withLock { $0.readers.removeValue(forKey: number) }
  }
}

extension ServiceResponse {
  /// A stream of events; nil for its head alone.
  static func events(_ texts: AsyncStream<String>?) -> ServiceResponse {
    ServiceResponse(
      fields: [("Content-Type", "text/event-stream"), ("Cache-Control", "no-store")],
      body: texts.map { .events($0) } ?? .absent(length: nil)
    )
  }
}
