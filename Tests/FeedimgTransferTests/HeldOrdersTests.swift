import Testing

@testable import FeedimgTransfer

/// Which orders begin, and which wait for what comes to be taken.
struct HeldOrdersTests {
  private struct Order: Identifiable {
    var id: Int
  }

  /// When three orders have come, of which the first two ask.
  struct Row: Sendable, CustomTestStringConvertible {
    /// In kilobytes; each that begins adds as much as is typical, 64 KiB at first.
    var underWay: Int
    var isIdle: Bool
    var milliseconds: Int64
    var begun: [Int]
    var testDescription: String {
      "\(underWay) kB under way, \(isIdle ? "nothing" : "something") to read, after \(milliseconds) ms"
    }
  }

  static let rows = [
    Row(underWay: 0, isIdle: false, milliseconds: 0, begun: [1, 2, 3]),
    Row(underWay: 950, isIdle: false, milliseconds: 0, begun: [1, 2]),
    Row(underWay: 1000, isIdle: false, milliseconds: 0, begun: [1]),
    Row(underWay: 1050, isIdle: false, milliseconds: 0, begun: []),
    Row(underWay: 1050, isIdle: false, milliseconds: 9, begun: []),
    Row(underWay: 1050, isIdle: false, milliseconds: 10, begun: [1, 2, 3]),
    Row(underWay: 1050, isIdle: true, milliseconds: 0, begun: [1, 2, 3]),
    Row(underWay: 100_000, isIdle: true, milliseconds: 0, begun: [1, 2, 3]),
  ]

  @Test(arguments: rows)
  func `orders begin when there is nothing else to do, or too little runs`(row: Row) {
    let now = Moment.now
    var held = HeldOrders<Order>()
    for id in 1...3 { held.append(Order(id: id), at: now) }
    let later = now.advanced(byNanoseconds: row.milliseconds * 1_000_000)
    var begun: [Int] = []
    while let order = held.next(
      underWay: row.underWay * 1000 + begun.count * held.typicalLength,
      isIdle: row.isIdle,
      at: later
    ) {
      begun.append(order.id)
    }
    #expect(begun == row.begun)
    #expect(held.isEmpty == (begun.count == 3))
    #expect(held.removeAll().map(\.id) == [1, 2, 3].filter { !begun.contains($0) })
    #expect(held.isEmpty)
  }

  @Test func `what is typical follows the lengths of bodies`() {
    var held = HeldOrders<Order>()
    #expect(held.typicalLength == 65_536)
    for _ in 1...20 { held.learn(length: 12_000) }
    #expect((12_000...12_300).contains(held.typicalLength))
    for _ in 1...20 { held.learn(length: 250_000) }
    #expect((249_000...250_000).contains(held.typicalLength))
  }

  @Test func `each order waits for its own time alone`() {
    let now = Moment.now
    var held = HeldOrders<Order>()
    held.append(Order(id: 1), at: now)
    held.append(Order(id: 2), at: now.advanced(byNanoseconds: 5_000_000))
    let later = now.advanced(byNanoseconds: 10_000_000)
    #expect(held.next(underWay: .max, isIdle: false, at: later)?.id == 1)
    #expect(held.next(underWay: .max, isIdle: false, at: later)?.id == nil)
    #expect(held.next(underWay: .max, isIdle: false, at: later.advanced(byNanoseconds: 5_000_000))?.id == 2)
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
    #expect(held.next(underWay: 0, isIdle: false, at: now)?.id == 1)
    #expect(first == nil && second != nil)
    #expect(held.next(underWay: 0, isIdle: false, at: now)?.id == 2)
    #expect(second == nil)
    #expect(held.remove(3)?.id == 3)
    #expect(held.isEmpty)
  }

  @Test func `one that is taken back is not begun`() {
    let now = Moment.now
    var held = HeldOrders<Order>()
    for id in 1...3 { held.append(Order(id: id), at: now) }
    #expect(held.next(underWay: 0, isIdle: false, at: now)?.id == 1)
    #expect(held.remove(1)?.id == nil)
    #expect(held.remove(2)?.id == 2)
    #expect(held.remove(2)?.id == nil)
    #expect(held.next(underWay: 0, isIdle: false, at: now)?.id == 3)
    #expect(held.isEmpty)
    held.append(Order(id: 4), at: now)
    #expect(held.next(underWay: 0, isIdle: false, at: now)?.id == 4)
  }
}
