/// The transfers within the limits that have brought nothing of a body yet, and since when.
///
/// What has waited for long brings nothing, so that it takes nothing of the link from others. Pure: times are on any
/// clock that does not jump.
struct UnansweredTransfers: Sendable {
  private struct Request: Sendable {
    let ticket: LoadQueue.Ticket
    let host: String
    let since: Duration
  }

  /// From then on an answer is late, also one of which there is a head alone: most begin within a round trip or two, over a satellite as well.
  static let patience = Duration.seconds(1)

  /// Those that are not late, in the order in which they began.
  private var recent: [Request] = []
  private(set) var late: Set<LoadQueue.Ticket> = []

  mutating func begin(_ ticket: LoadQueue.Ticket, _ host: String, at now: Duration) {
    recent.append(Request(ticket: ticket, host: host, since: now))
  }

  /// It was answered, or has lost its place; harmless where it is not known.
  ///
  /// - Returns: Whether it was late.
  @discardableResult
  mutating func end(_ ticket: LoadQueue.Ticket) -> Bool {
    recent.removeAll { $0.ticket == ticket }
    return late.remove(ticket) != nil
  }

  /// Time has passed.
  ///
  /// - Returns: Those that are late from now on.
  mutating func pass(to now: Duration) -> [LoadQueue.Ticket] {
    let tickets = recent.prefix { now - $0.since >= Self.patience }.map(\.ticket)
    recent.removeFirst(tickets.count)
    late.formUnion(tickets)
    return tickets
  }

  /// When the next of such a host will be late; nil for never.
  func deadline(where isWanted: (_ host: String) -> Bool) -> Duration? {
    recent.first { isWanted($0.host) }.map { $0.since + Self.patience }
  }
}
