/// The latest events, for readers that reconnect.
///
/// An identifier consists of the run of the service and a number. An identifier of another run is unknown.
struct EventLog: Sendable {
  /// The events of one kind that are kept.
  enum Retention: Sendable, Hashable {
    /// All states, as their order matters.
    case history
    /// The latest state.
    case latest
    /// All events, for returning readers; a new reader gets none, as they are not states.
    case occurrence
  }

  /// One event of the stream (HTML Living Standard, server-sent events).
  struct Event: Sendable, Hashable {
    var id: String
    var kind: String
    /// One line.
    var data: String
    fileprivate var number: Int

    /// The lines of the event and the empty line that ends it.
    var text: String { "id: \(id)\nevent: \(kind)\ndata: \(data)\n\n" }
  }

  private let run: String
  private let capacity: Int
  private var events: [Event] = []
  /// The number of events so far.
  private var count = 0
  /// The number of the last event that was discarded.
  private var lost = 0
  /// The latest state of each kind, in the order of their first events.
  private var latest: [Event] = []

  /// - Parameters:
  ///   - run: A name that no other run of the service has.
  ///   - capacity: The number of events to keep.
  init(run: String, capacity: Int = 256) {
    self.run = run
    self.capacity = capacity
  }

  /// Adds an event with one line of data; nil for a state that has not changed.
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

  /// The events after the last one of a reader; the latest states for a new reader or an unknown identifier.
  func missed(since id: String?) -> [Event] {
    guard let id, id.hasPrefix("\(run)-"), let number = Int(id.dropFirst(run.count + 1)),
      (lost...count).contains(number)
    else { return latest }
    return events.filter { $0.number > number }
  }
}
