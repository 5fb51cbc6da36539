/// The uses of entries that are not in the index yet (pure).
///
/// Times of use are exact to a minute, so that repeated reads of an image cause one write a minute. Reads of many
/// images share one write.
struct TouchLedger: Sendable {
  /// The index gets no use that is less than so many seconds after the one that it has.
  static let coarseness = 60
  /// So many entries or misses cause a write; hits wait for the next one.
  static let batch = 64
  /// The least seconds between two writes, unless the batch is full.
  static let pause = 1.0

  private var page = Page()
  private var writtenAt = -Double.infinity

  init() {}

  /// The content of one write.
  struct Page: Sendable, Hashable {
    /// The last use of each entry, in seconds since 1970.
    var uses: [Int64: Int] = [:]
    var hits = 0
    var misses = 0

    var isEmpty: Bool { uses.isEmpty && hits == 0 && misses == 0 }
  }

  /// Notes reads of an entry, whose last use in the index is `usedAt`.
  mutating func noteHit(_ identifier: Int64, times: Int = 1, usedAt: Int, now: Int) {
    page.hits += times
    // A time in the future is from a clock that was set back since.
    if usedAt > now || now - usedAt >= Self.coarseness { page.uses[identifier] = now }
  }

  mutating func noteMiss() { page.misses += 1 }

  /// Whether a write is due.
  func isDue(now: Double) -> Bool {
    let isPauseOver = now - writtenAt >= Self.pause || now < writtenAt
    return max(page.uses.count, page.misses) >= Self.batch || !page.uses.isEmpty && isPauseOver
  }

  /// Removes and returns the uses to write.
  mutating func takePage(now: Double) -> Page {
    defer { (page, writtenAt) = (Page(), now) }
    return page
  }
}
