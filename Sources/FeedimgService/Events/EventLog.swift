/// The latest events, for readers that reconnect: the latest state of each kind, and occurrences.
///
/// An identifier consists of the run of the service and a number. An identifier of another run is unknown.
struct EventLog: Sendable {
  /// One event of the stream (HTML Living Standard, server-sent events).
  struct Event: Sendable, Hashable {
    var id: String
    var kind: String
    /// One line.
    var data: String
    fileprivate var number: Int
    fileprivate var isState: Bool

    /// The lines of the event and the empty line that ends it.
    var text: String { "id: \(id)\nevent: \(kind)\ndata: \(data)\n\n" }
  }

  private let run: String
  private let capacity: Int
  private var events: [Event] = []
  /// The number of events so far.
  private var count = 0
  /// The number of the last occurrence that was discarded.
  private var lost = 0

  /// - Parameters:
  ///   - run: A name that no other run of the service has.
  ///   - capacity: The number of events to keep.
  init(run: String, capacity: Int = 256) {
    self.run = run
    self.capacity = capacity
  }

  /// Adds a state or an occurrence with one line of data; nil for a state that has not changed.
  mutating func append(_ kind: String, _ data: String, isState: Bool = true) -> Event? {
    if isState, let known = events.firstIndex(where: { $0.kind == kind }) {
      guard events[known].data != data else { return nil }
      events.remove(at: known)
    }
    count += 1
    let event = Event(id: "\(run)-\(count)", kind: kind, data: data, number: count, isState: isState)
    events.append(event)
    if events.count > capacity, let oldest = events.firstIndex(where: { !$0.isState }) {
      lost = events.remove(at: oldest).number
    }
    return event
  }

  /// The events after the last one of a reader; the states for a new reader or an unknown identifier.
  func missed(since id: String?) -> [Event] {
    guard let id, id.hasPrefix("\(run)-"), let number = Int(id.dropFirst(run.count + 1)),
      (lost...count).contains(number)
    else { return events.filter(\.isState) }
    return events.filter { $0.number > number }
  }
}
