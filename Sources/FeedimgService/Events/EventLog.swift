/// The last events, so that a reader who was away can go on where it left.
///
/// An identifier is the run of the service and a number within it: one of an earlier run counts as unknown.
struct EventLog: Sendable {
  /// What is kept of events of one kind.
  enum Retention: Sendable, Hashable {
    /// They are states, and how they followed one another matters.
    case history
    /// They are states, and only the present one matters.
    case latest
    /// They are no states: a new reader has no use for those before its time.
    case occurrence
  }

  /// One event, as the stream has it (HTML Living Standard, server-sent events).
  struct Event: Sendable, Hashable {
    var id: String
    var kind: String
    /// One line.
    var data: String
    fileprivate var number: Int

    /// The lines of the event with the empty one that ends it.
    var text: String { "id: \(id)\nevent: \(kind)\ndata: \(data)\n\n" }
  }

  private let run: String
  private let capacity: Int
  private var events: [Event] = []
  /// How many events there ever were.
  private var count = 0
  /// The last event that a reader could still have missed and not be told.
  private var lost = 0
  /// The present state of what has one, in the order in which it was first told.
  private var latest: [Event] = []

  /// - Parameters:
  ///   - run: What no other run of the service is called.
  ///   - capacity: How many events to remember.
  init(run: String, capacity: Int = 256) {
    self.run = run
    self.capacity = capacity
  }

  /// Adds the state of something, unless it is as it was, or what has happened.
  ///
  /// - Parameters:
  ///   - kind: What it is the state of, such as `network`.
  ///   - data: One line.
  ///   - retention: What is kept of it.
  /// - Returns: The event, or nil where nothing has changed.
  mutating func append(_ kind: String, _ data: String, as retention: Retention = .history) -> Event? {
    let known = latest.firstIndex { $0.kind == kind }
    if let known, latest[known].data == data { return nil }
    count += 1
    let event = Event(id: "\(run)-\(count)", kind: kind, data: data, number: count)
    if retention == .latest { events.removeAll { $0.kind == kind } }
    if retention != .occurrence {
      if let known { latest[known] = event } else { latest.append(event) }
    }
    events.append(event)
    if events.count > capacity { lost = events.removeFirst().number }
    return event
  }

  /// What a reader has to be told when it comes.
  ///
  /// - Parameter id: The last event that it has seen; nil for a new reader.
  /// - Returns: All since then where that is known, else the present states.
  func missed(since id: String?) -> [Event] {
    guard let id, id.hasPrefix("\(run)-"), let number = Int(id.dropFirst(run.count + 1)),
      (lost...count).contains(number)
    else { return latest }
    return events.filter { $0.number > number }
  }
}
