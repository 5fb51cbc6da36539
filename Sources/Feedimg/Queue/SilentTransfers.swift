/// The transfers within the limits, and since when each has brought nothing.
///
/// What has waited for long brings nothing, so that it takes nothing of the link from others. Pure: times are on any
/// clock that does not jump.
struct SilentTransfers: Sendable {
  private struct Request: Sendable {
    let ticket: LoadQueue.Ticket
    let host: String
    /// When it is late, unless something came meanwhile.
    var deadline: Duration
  }

  /// From then on an answer is late, also one of which there is a head alone: most begin within a round trip or two, over a satellite as well.
  static let patience = Duration.seconds(1)
  /// From then on one that has begun to come is late: over a slow link, others may come in between for a while.
  static let patienceWithin = Duration.seconds(2)

  /// Those that are not late, by their deadlines.
  private var recent: [Request] = []
  /// When something has come of these last, since their deadlines were set.
  private var heard: [LoadQueue.Ticket: Duration] = [:]
  private(set) var late: Set<LoadQueue.Ticket> = []

  /// - Parameters:
  ///   - ticket: That of the transfer.
  ///   - host: Who is asked.
  ///   - now: When it begins.
  ///   - isAnswered: Whether something of its body has come already.
  mutating func begin(
    _ ticket: LoadQueue.Ticket,
    _ host: String,
    at now: Duration,
    isAnswered: Bool = false
  ) {
    let patience = isAnswered ? Self.patienceWithin : Self.patience
    insert(Request(ticket: ticket, host: host, deadline: now + patience))
  }

  /// Something of its body has come; harmless where it is not known.
  ///
  /// - Returns: Whether it is late, which it stays until it begins anew.
  mutating func hear(_ ticket: LoadQueue.Ticket, at now: Duration) -> Bool {
    if late.contains(ticket) { return true }
    if recent.contains(where: { $0.ticket == ticket }) { heard[ticket] = now }
    return false
  }

  /// It has lost its place, or begins anew; harmless where it is not known.
  mutating func end(_ ticket: LoadQueue.Ticket) {
    recent.removeAll { $0.ticket == ticket }
    heard[ticket] = nil
    late.remove(ticket)
  }

  /// Time has passed.
  ///
  /// - Returns: Those that are late from now on.
  mutating func pass(to now: Duration) -> [LoadQueue.Ticket] {
    var tickets: [LoadQueue.Ticket] = []
    while let first = recent.first, first.deadline <= now {
      recent.removeFirst()
      if let last = heard.removeValue(forKey: first.ticket), last + Self.patienceWithin > now {
        insert(Request(ticket: first.ticket, host: first.host, deadline: last + Self.patienceWithin))
      } else {
        tickets.append(first.ticket)
      }
    }
    late.formUnion(tickets)
    return tickets
  }

  /// When to look whether another one is late, of such a host; nil for never.
  func deadline(where isWanted: (_ host: String) -> Bool) -> Duration? {
    recent.first { isWanted($0.host) }?.deadline
  }

  private mutating func insert(_ request: Request) {
    let index = recent.lastIndex { $0.deadline <= request.deadline }.map { $0 + 1 } ?? 0
    recent.insert(request, at: index)
  }
}
