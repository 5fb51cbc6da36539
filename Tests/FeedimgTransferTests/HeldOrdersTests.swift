import Testing

@testable import FeedimgTransfer

/// Which orders begin, and which wait for what comes to be taken.
struct HeldOrdersTests {
  private struct Order: Identifiable {
    var id: Int
  }

  /// When three orders have come, of which the first two ask.
  struct Row: Sendable, CustomTestStringConvertible {
    var running: Int
    var isIdle: Bool
    var milliseconds: Int64
    var begun: [Int]
    var testDescription: String {
      "\(running) running, \(isIdle ? "nothing" : "something") to read, after \(milliseconds) ms"
    }
  }

  static let rows = [
    Row(running: 0, isIdle: false, milliseconds: 0, begun: [1, 2]),
    Row(running: 1, isIdle: false, milliseconds: 0, begun: [1]),
    Row(running: 2, isIdle: false, milliseconds: 0, begun: []),
    Row(running: 2, isIdle: false, milliseconds: 9, begun: []),
    Row(running: 2, isIdle: false, milliseconds: 10, begun: [1, 2, 3]),
    Row(running: 2, isIdle: true, milliseconds: 0, begun: [1, 2, 3]),
    Row(running: 100, isIdle: true, milliseconds: 0, begun: [1, 2, 3]),
  ]

  @Test(arguments: rows)
  func `orders begin when there is nothing else to do, or too little runs`(row: Row) {
    let now = Moment.now
    var held = HeldOrders<Order>()
    for id in 1...3 { held.append(Order(id: id), at: now) }
    let later = now.advanced(byNanoseconds: row.milliseconds * 1_000_000)
    var begun: [Int] = []
    while let order = held.next(running: row.running + begun.count, isIdle: row.isIdle, at: later) {
      begun.append(order.id)
    }
    #expect(begun == row.begun)
    #expect(held.isEmpty == (begun.count == 3))
    #expect(held.removeAll().map(\.id) == [1, 2, 3].filter { !begun.contains($0) })
    #expect(held.isEmpty)
  }

  @Test func `each order waits for its own time alone`() {
    let now = Moment.now
    var held = HeldOrders<Order>()
    held.append(Order(id: 1), at: now)
    held.append(Order(id: 2), at: now.advanced(byNanoseconds: 5_000_000))
    let later = now.advanced(byNanoseconds: 10_000_000)
    #expect(held.next(running: 2, isIdle: false, at: later)?.id == 1)
    #expect(held.next(running: 3, isIdle: false, at: later)?.id == nil)
    #expect(held.next(running: 3, isIdle: false, at: later.advanced(byNanoseconds: 5_000_000))?.id == 2)
  }

  /// What an order keeps alive.
  private final class Kept: Identifiable {
    let id: Int
    init(id: Int) { self.id = id }
  }

  @Test func `nothing is kept of those that have gone`() {
    let now = Moment.now
    var held = HeldOrders<Kept>()
    weak var first: Kept?
    weak var second: Kept?
    do {
      let orders = (1...3).map { Kept(id: $0) }
      (first, second) = (orders[0], orders[1])
      for order in orders { held.append(order, at: now) }
    }
    #expect(held.next(running: 0, isIdle: false, at: now)?.id == 1)
    #expect(first == nil && second != nil)
    #expect(held.next(running: 1, isIdle: false, at: now)?.id == 2)
    #expect(second == nil)
    #expect(held.remove(3)?.id == 3)
    #expect(held.isEmpty)
  }

  @Test func `one that is taken back is not begun`() {
    let now = Moment.now
    var held = HeldOrders<Order>()
    for id in 1...3 { held.append(Order(id: id), at: now) }
    #expect(held.next(running: 0, isIdle: false, at: now)?.id == 1)
    #expect(held.remove(1)?.id == nil)
    #expect(held.remove(2)?.id == 2)
    #expect(held.remove(2)?.id == nil)
    #expect(held.next(running: 0, isIdle: false, at: now)?.id == 3)
    #expect(held.isEmpty)
    held.append(Order(id: 4), at: now)
    #expect(held.next(running: 0, isIdle: false, at: now)?.id == 4)
  }
}
