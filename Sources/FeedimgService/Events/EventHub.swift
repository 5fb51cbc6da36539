import Synchronization

/// The events of one reader, as text that goes out as it is.
struct EventReader: Sendable {
  let texts: AsyncStream<String>
}

/// Tells all readers what happens; one that does not keep up is dropped, and the others are not delayed by it.
final class EventHub: Sendable {
  private struct State {
    var log: EventLog
    var readers: [Int: AsyncStream<String>.Continuation] = [:]
    var next = 0
    var isEnded = false
  }

  /// Guards the log and who reads; streams are ended outside, as that calls back.
  private let state: Mutex<State>
  /// How many texts may wait for a reader.
  private let patience: Int
  private let firstReaderComes: @Sendable (EventHub) -> Void

  /// - Parameters:
  ///   - log: Where to begin.
  ///   - patience: How many events may wait for a reader before it is dropped.
  ///   - firstReaderComes: Called once, so that what nobody reads costs nothing.
  init(
    _ log: EventLog,
    patience: Int = 64,
    firstReaderComes: @escaping @Sendable (EventHub) -> Void = { _ in }
  ) {
    state = Mutex(State(log: log))
    self.patience = patience
    self.firstReaderComes = firstReaderComes
  }

  /// How many read now.
  var readerCount: Int { state.withLock { $0.readers.count } }

  /// Tells a state, unless it is as it was, or that something has happened.
  ///
  /// - Parameters:
  ///   - kind: What it is the state of, or what has happened.
  ///   - data: One line.
  ///   - retention: What is kept of it for readers who come back.
  func publish(_ kind: String, _ data: String, as retention: EventLog.Retention = .history) {
    let slow = state.withLock { state -> [AsyncStream<String>.Continuation] in
      guard let event = state.log.append(kind, data, as: retention) else { return [] }
      let slow = state.readers.filter { _, reader in
        if case .enqueued = reader.yield(event.text) { return false }
        return true
      }
      for number in slow.keys { state.readers[number] = nil }
      return Array(slow.values)
    }
    for reader in slow { reader.finish() }
  }

  /// Begins to tell a reader: first what it missed, then what happens.
  ///
  /// - Parameter id: The last event that it has seen; nil for a new reader.
  /// - Returns: What to send it, until it is dropped, leaves or the service ends.
  func subscribe(after id: String?) -> EventReader {
    let (texts, reader) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingOldest(patience))
    let (number, isEnded) = state.withLock { state in
      state.next += 1
      // Lets the client see at once that it is connected, and tells it that it may come back soon.
      reader.yield("retry: 1000\n\n" + state.log.missed(since: id).map(\.text).joined())
      if !state.isEnded { state.readers[state.next] = reader }
      return (state.next, state.isEnded)
    }
    reader.onTermination = { [weak self] _ in self?.leave(number) }
    if isEnded { reader.finish() } else if number == 1 { firstReaderComes(self) }
    return EventReader(texts: texts)
  }

  /// Ends all readers, and those to come.
  func end() {
    let readers = state.withLock { state in
      state.isEnded = true
      defer { state.readers = [:] }
      return Array(state.readers.values)
    }
    for reader in readers { reader.finish() }
  }

  private func leave(_ number: Int) {
    // Let go outside, for the same reason.
    _ = state.withLock { $0.readers.removeValue(forKey: number) }
  }
}
