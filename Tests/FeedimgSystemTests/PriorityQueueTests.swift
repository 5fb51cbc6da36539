import Testing

@testable import FeedimgSystem

/// The order in which tasks get a place.
struct PriorityQueueTests {
  enum Priority: Int, Comparable, Sendable {
    case prefetch
    case near
    case visible

    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  }

  @Test func `the highest priority goes first, then the first to arrive`() {
    var queue = PriorityQueue<Priority>(places: 2)
    let now = Duration.zero
    let (one, two) = (queue.enter(.prefetch, at: now), queue.enter(.prefetch, at: now))
    #expect(queue.hasPlace(one) && queue.hasPlace(two))
    let tickets = [Priority.near, .prefetch, .near, .visible, .near].map { queue.enter($0, at: now) }
    #expect(queue.count == 5)
    #expect(queue.leave(one, at: now) == tickets[3])
    #expect(queue.leave(tickets[0], at: now) == nil, "it waited")
    queue.setPriority(tickets[1], .visible, at: now)
    #expect(queue.leave(two, at: now) == tickets[1])
    #expect(queue.leave(tickets[3], at: now) == tickets[2])
    #expect(queue.leave(tickets[1], at: now) == tickets[4])
    #expect(queue.leave(tickets[2], at: now) == nil && queue.leave(tickets[4], at: now) == nil)
    let last = queue.enter(.prefetch, at: now)
    #expect(queue.count == 0 && queue.hasPlace(last))
  }

  /// One place.
  ///
  /// Each second a ticket arrives that keeps it for a second.
  struct Row: Sendable, CustomTestStringConvertible {
    /// The priority of these tickets.
    var stream: Priority
    /// The tickets that wait from the beginning.
    var waiting: [Priority]
    /// The second, of 35, in which each of those gets the place.
    var begun: [Int: Priority]
    var reason: String
    var testDescription: String { reason }
  }

  static let rows = [
    Row(
      stream: .visible,
      waiting: [.prefetch],
      begun: [10: .prefetch],
      reason: "prefetch waits at most ten seconds"
    ),
    Row(
      stream: .visible,
      waiting: [.prefetch, .prefetch, .prefetch, .prefetch],
      begun: [10: .prefetch, 21: .prefetch, 32: .prefetch],
      reason: "one ticket of a priority goes first, and then the wait restarts"
    ),
    Row(
      stream: .visible,
      waiting: [.prefetch, .near],
      begun: [10: .near, 11: .prefetch],
      reason: "of equal waits, the higher priority goes first"
    ),
    Row(
      stream: .near,
      waiting: [.prefetch, .prefetch],
      begun: [10: .prefetch, 21: .prefetch],
      reason: "near does not starve prefetch either"
    ),
    Row(
      stream: .prefetch,
      waiting: [.visible, .near],
      begun: [1: .visible, 2: .near],
      reason: "a higher priority does not wait"
    ),
  ]

  @Test(arguments: rows) func `no priority starves`(_ row: Row) {
    var queue = PriorityQueue<Priority>(places: 1)
    var running = queue.enter(row.stream, at: .zero)
    let waiting = row.waiting.map { (ticket: queue.enter($0, at: .zero), priority: $0) }
    var begun: [Int: Priority] = [:]
    for second in 1...35 {
      _ = queue.enter(row.stream, at: .seconds(second))
      guard let next = queue.leave(running, at: .seconds(second)) else {
        Issue.record("no ticket gets the place in second \(second)")
        return
      }
      running = next
      if let found = waiting.first(where: { $0.ticket == next }) { begun[second] = found.priority }
    }
    #expect(begun == row.begun)
  }

  @Test func `a ticket that is raised or leaves no longer starves its old priority`() {
    var queue = PriorityQueue<Priority>(places: 1)
    let running = queue.enter(.visible, at: .zero)
    let (raised, gone) = (queue.enter(.prefetch, at: .zero), queue.enter(.near, at: .zero))
    let visible = queue.enter(.visible, at: .seconds(5))
    queue.setPriority(raised, .visible, at: .seconds(6))
    #expect(queue.leave(gone, at: .seconds(7)) == nil)
    let late = queue.enter(.prefetch, at: .seconds(8))
    #expect(queue.leave(running, at: .seconds(12)) == raised, "it came first")
    #expect(queue.leave(raised, at: .seconds(17)) == visible, "the other prefetch waits for nine seconds")
    #expect(queue.leave(visible, at: .seconds(18)) == late)
  }
}
