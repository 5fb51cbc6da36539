import FeedimgModel
import Testing

@testable import FeedimgHTTPCache

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
}
