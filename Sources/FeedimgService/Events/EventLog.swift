/// The last events, so that a reader who was away can go on where it left.
///
/// An identifier is the run of the service and a number within it: one of an earlier run counts as unknown.
struct EventLog: Sendable {
  /// One event, as the stream has it (HTML Living Standard, server-sent events).
  struct Event: Sendable, Hashable {
    var id: String
    var kind: String
    /// One line.
    var data: String

    /// The lines of the event with the empty one that ends it.
    var text: String { "id: \(id)\nevent: \(kind)\ndata: \(data)\n\n" }
  }

  private let run: String
  private let capacity: Int
  private var events: [Event] = []
  /// How many events there ever were.
  private var count = 0
  /// The present state of what has one, in the order in which it was first told.
  private var latest: [Event] = []

  /// - Parameters:
  ///   - run: What no other run of the service is called.
  ///   - capacity: How many events to remember.
  init(run: String, capacity: Int = 256) {
    self.run = run
    self.capacity = capacity
  }

  /// Adds the state of something, unless it is as it was.
  ///
  /// - Parameters:
  ///   - kind: What it is the state of, such as `network`.
  ///   - data: One line.
  /// - Returns: The event, or nil where nothing has changed.
  mutating func append(_ kind: String, _ data: String) -> Event? {
    let known = latest.firstIndex { $0.kind == kind }
    if let known, latest[known].data == data { return nil }
    count += 1
    let event = Event(id: "\(run)-\(count)", kind: kind, data: data)
    if let known { latest[known] = event } else { latest.append(event) }
    events.append(event)
    if events.count > capacity { events.removeFirst(events.count - capacity) }
    return event
  }

  /// What a reader has to be told when it comes.
  ///
  /// - Parameter id: The last event that it has seen; nil for a new reader.
  /// - Returns: All since then where that is known, else the present states.
  func missed(since id: String?) -> [Event] {
    guard let id, id.hasPrefix("\(run)-"), let number = Int(id.dropFirst(run.count + 1)),
      (count - events.count...count).contains(number)
    else { return latest }
    return Array(events.suffix(count - number))
  }
}
