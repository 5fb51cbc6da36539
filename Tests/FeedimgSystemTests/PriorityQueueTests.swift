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
    let (one, two) = (queue.enter(.prefetch), queue.enter(.prefetch))
    #expect(queue.hasPlace(one) && queue.hasPlace(two))
    let tickets = [Priority.near, .prefetch, .near, .visible, .near].map { queue.enter($0) }
    #expect(queue.count == 5)
    #expect(queue.leave(one) == tickets[3])
    #expect(queue.leave(tickets[0]) == nil, "it waited")
    queue.setPriority(tickets[1], .visible)
    #expect(queue.leave(two) == tickets[1])
    #expect(queue.leave(tickets[3]) == tickets[2])
    #expect(queue.leave(tickets[1]) == tickets[4])
    #expect(queue.leave(tickets[2]) == nil && queue.leave(tickets[4]) == nil)
    let last = queue.enter(.prefetch)
    #expect(queue.count == 0 && queue.hasPlace(last))
  }
}
