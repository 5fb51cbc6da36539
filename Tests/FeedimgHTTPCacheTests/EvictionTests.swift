import FeedimgModel
import Testing

@testable import FeedimgHTTPCache

@Suite struct EvictionTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    var stored: Int
    var incoming: Int
    var limit: Int
    /// From the least recently used on.
    var sizes: [Int]
    var count: Int
    var because: String

    var testDescription: String { name }
  }

  static let rows = [
    Row(
      name: "room enough",
      stored: 50,
      incoming: 50,
      limit: 100,
      sizes: [50],
      count: 0,
      because: "the limit may be reached"
    ),
    Row(
      name: "one byte too many",
      stored: 100,
      incoming: 1,
      limit: 100,
      sizes: [50, 50],
      count: 1,
      because: "the first frees enough and a sixteenth more"
    ),
    Row(
      name: "small ones",
      stored: 160,
      incoming: 10,
      limit: 160,
      sizes: .init(repeating: 10, count: 16),
      count: 2,
      because: "one must be evicted, and one more makes a sixteenth"
    ),
    Row(
      name: "tiny ones",
      stored: 16_000,
      incoming: 10,
      limit: 16_000,
      sizes: .init(repeating: 10, count: 256),
      count: 9,
      because: "one must be evicted, and a step removes eight more"
    ),
    Row(
      name: "everything",
      stored: 100,
      incoming: 100,
      limit: 100,
      sizes: [60, 40],
      count: 2,
      because: "the new image needs everything"
    ),
    Row(
      name: "damaged sizes",
      stored: .max,
      incoming: .max,
      limit: .max,
      sizes: [-5, .max, .max],
      count: 2,
      because: "sums do not overflow"
    ),
    Row(
      name: "a negative total",
      stored: -5,
      incoming: 1,
      limit: 1,
      sizes: [1],
      count: 0,
      because: "a total below zero counts as zero"
    ),
  ]

  @Test(arguments: rows)
  func `a budget evicts what it must, and one step more`(row: Row) {
    var eviction = Eviction(stored: row.stored, incoming: row.incoming, limit: ByteCount(row.limit))
    #expect(row.sizes.prefix { eviction.takes($0) }.count == row.count, "\(row.because)")
    #expect(eviction.isEnough)
  }
}

@Suite struct DiskRoomTests {
  @Test(arguments: [
    (100 << 30, 50 << 30, 0, "there is enough room"), (100 << 30, 256 << 20, 0, "the reserve is just free"),
    (100 << 30, 56 << 20, 200 << 20, "200 MiB of the reserve are taken"),
    (5 << 20, 0, 5 << 20 / 50, "a small disk has a small reserve"),
    (0, 0, 0, "a file system without values"),
    (Int.max, -5, 256 << 20, "a file system with invalid values"),
  ])
  func `the cache frees the space that other programs need`(
    size: Int,
    available: Int,
    deficit: Int,
    because: String
  ) {
    #expect(FreeSpace(available: available, size: size).deficit == deficit, "\(because)")
  }
}

@Suite struct TouchLedgerTests {
  @Test func `the first use is written at once, later ones after a while`() {
    var ledger = TouchLedger()
    #expect(!ledger.isDue(now: 1000))
    ledger.noteHit(1, usedAt: 900, now: 1000)
    #expect(ledger.isDue(now: 1000))
    let first = ledger.takePage(now: 1000)
    #expect(first == .init(uses: [1: 1000], hits: 1, misses: 0))
    ledger.noteHit(2, usedAt: 900, now: 1000)
    #expect(!ledger.isDue(now: 1000.5))
    #expect(ledger.isDue(now: 1001))
    #expect(ledger.isDue(now: 10))
  }

  @Test func `a use within the minute is counted but not written`() {
    var ledger = TouchLedger()
    for _ in 0..<3 { ledger.noteHit(1, usedAt: 990, now: 1000) }
    #expect(!ledger.isDue(now: 2000))
    #expect(ledger.takePage(now: 2000) == .init(uses: [:], hits: 3, misses: 0))
  }

  @Test func `a use in the future is corrected`() {
    var ledger = TouchLedger()
    ledger.noteHit(1, usedAt: 2000, now: 1000)
    #expect(ledger.takePage(now: 1000).uses == [1: 1000])
  }

  @Test func `a use that could not be written is kept and written later`() {
    var ledger = TouchLedger()
    for identifier in 0..<64 { ledger.noteHit(Int64(identifier), usedAt: 0, now: 1000) }
    #expect(ledger.isDue(now: 1000))
    let page = ledger.takePage(now: 1000)
    ledger.noteHit(0, usedAt: 0, now: 1000)
    ledger.putBack(page)
    #expect(!ledger.isDue(now: 1000.5))
    #expect(ledger.isDue(now: 1001))
    let again = ledger.takePage(now: 1001)
    #expect(again.uses.count == 64)
    #expect(again.hits == 65)
  }

  @Test func `a folder that is never writable does not fill the memory`() {
    var ledger = TouchLedger()
    for identifier in 0..<5000 {
      ledger.noteHit(Int64(identifier), usedAt: 0, now: 1000)
      if ledger.isDue(now: Double(identifier)) { ledger.putBack(ledger.takePage(now: Double(identifier))) }
    }
    #expect(ledger.takePage(now: 0).uses.count <= TouchLedger.maximumCount)
  }
}
