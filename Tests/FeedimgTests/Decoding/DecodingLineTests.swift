import FeedimgModel
import Testing

@testable import Feedimg

struct DecodingLineTests {
  @Test func `the line lets the most urgent in, of equals the first`() {
    var line = DecodingLine(width: 2)
    let now = Duration.zero
    let (one, two) = (line.enter(.prefetch, at: now), line.enter(.prefetch, at: now))
    #expect(line.isRunning(one) && line.isRunning(two))
    let tickets = [LoadPriority.near, .prefetch, .near, .visible, .near].map { line.enter($0, at: now) }
    #expect(line.count == 5)
    #expect(line.leave(one, at: now) == tickets[3])
    #expect(line.leave(tickets[0], at: now) == nil, "it waited")
    line.setPriority(tickets[1], .visible, at: now)
    #expect(line.leave(two, at: now) == tickets[1])
    #expect(line.leave(tickets[3], at: now) == tickets[2])
    #expect(line.leave(tickets[1], at: now) == tickets[4])
    #expect(line.leave(tickets[2], at: now) == nil && line.leave(tickets[4], at: now) == nil)
    let last = line.enter(.prefetch, at: now)
    #expect(line.count == 0 && line.isRunning(last))
  }

  /// One decoder, for which each second somebody urgent comes who takes a second.
  struct Row: Sendable, CustomTestStringConvertible {
    /// Who comes each second.
    var stream: LoadPriority
    /// Who has been waiting since the beginning.
    var waiting: [LoadPriority]
    /// Who of those begins in which second of 35.
    var begun: [Int: LoadPriority]
    var reason: String
    var testDescription: String { reason }
  }

  static let rows = [
    Row(
      stream: .visible,
      waiting: [.prefetch],
      begun: [10: .prefetch],
      reason: "what is prefetched waits ten seconds at most"
    ),
    Row(
      stream: .visible,
      waiting: [.prefetch, .prefetch, .prefetch, .prefetch],
      begun: [10: .prefetch, 21: .prefetch, 32: .prefetch],
      reason: "one of a class goes first, then it waits again from the end of that"
    ),
    Row(
      stream: .visible,
      waiting: [.prefetch, .near],
      begun: [10: .near, 11: .prefetch],
      reason: "of classes that have waited as long, the more urgent goes before the other"
    ),
    Row(
      stream: .near,
      waiting: [.prefetch, .prefetch],
      begun: [10: .prefetch, 21: .prefetch],
      reason: "what is near does not starve what is prefetched either"
    ),
    Row(
      stream: .prefetch,
      waiting: [.visible, .near],
      begun: [1: .visible, 2: .near],
      reason: "who is more urgent has no need of patience"
    ),
  ]

  @Test(arguments: rows) func `no class waits for ever`(_ row: Row) {
    var line = DecodingLine(width: 1)
    var running = line.enter(row.stream, at: .zero)
    let waiting = row.waiting.map { (ticket: line.enter($0, at: .zero), priority: $0) }
    var begun: [Int: LoadPriority] = [:]
    for second in 1...35 {
      _ = line.enter(row.stream, at: .seconds(second))
      guard let next = line.leave(running, at: .seconds(second)) else {
        Issue.record("nobody begins in second \(second)")
        return
      }
      running = next
      if let found = waiting.first(where: { $0.ticket == next }) { begun[second] = found.priority }
    }
    #expect(begun == row.begun)
  }

  @Test func `who becomes more urgent, or leaves, is no longer waited for`() {
    var line = DecodingLine(width: 1)
    let running = line.enter(.visible, at: .zero)
    let (raised, gone) = (line.enter(.prefetch, at: .zero), line.enter(.near, at: .zero))
    let visible = line.enter(.visible, at: .seconds(5))
    line.setPriority(raised, .visible, at: .seconds(6))
    #expect(line.leave(gone, at: .seconds(7)) == nil)
    let late = line.enter(.prefetch, at: .seconds(8))
    #expect(line.leave(running, at: .seconds(12)) == raised, "it came before")
    #expect(line.leave(raised, at: .seconds(17)) == visible, "the other prefetch waits for nine seconds")
    #expect(line.leave(visible, at: .seconds(18)) == late)
  }
}
