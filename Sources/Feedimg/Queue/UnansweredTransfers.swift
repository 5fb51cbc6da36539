/// The transfers within the limits whose answers have not begun, and since when.
///
/// What has waited for long brings nothing, so that it takes nothing of the link from others: its place counts for
/// its own host alone. Pure: times are on any clock that does not jump.
struct UnansweredTransfers: Sendable {
  private struct Request: Sendable {
    let ticket: LoadQueue.Ticket
    let host: String
    let since: Duration
  }

  /// From then on an answer is late: most begin within a round trip or two, over a satellite as well.
  static let patience = Duration.seconds(1)

  /// Those that are not late, in the order in which they began.
  private var recent: [Request] = []
  /// The hosts of the others.
  private(set) var late: [LoadQueue.Ticket: String] = [:]
  private var lateByHost: [String: Int] = [:]

  mutating func begin(_ ticket: LoadQueue.Ticket, _ host: String, at now: Duration) {
    recent.append(Request(ticket: ticket, host: host, since: now))
  }

  /// It was answered, or has lost its place; harmless where it is not known.
  ///
  /// - Returns: Whether it was late.
  @discardableResult
  mutating func end(_ ticket: LoadQueue.Ticket) -> Bool {
    recent.removeAll { $0.ticket == ticket }
    guard let host = late.removeValue(forKey: ticket) else { return false }
    change(host, by: -1)
    return true
  }

  /// Time has passed.
  mutating func pass(to now: Duration) {
    while let first = recent.first, now - first.since >= Self.patience {
      recent.removeFirst()
      late[first.ticket] = first.host
      change(first.host, by: 1)
    }
  }

  /// How many are late, of all hosts but one; without one of them, if it is.
  func lateCount(besides host: String?, without ticket: LoadQueue.Ticket? = nil) -> Int {
    let isOne = ticket.flatMap { late[$0] }.map { $0 != host } ?? false
    return late.count - (host.flatMap { lateByHost[$0] } ?? 0) - (isOne ? 1 : 0)
  }

  /// When the next of such a host will be late; nil for never.
  func deadline(where isWanted: (_ host: String) -> Bool) -> Duration? {
    recent.first { isWanted($0.host) }.map { $0.since + Self.patience }
  }

  private mutating func change(_ host: String, by step: Int) {
    let count = (lateByHost[host] ?? 0) + step
    lateByHost[host] = count == 0 ? nil : count
  }
}
