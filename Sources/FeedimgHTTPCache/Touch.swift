/// The recorded uses of an entry.
struct Touch: Sendable, Hashable {
  var identifier: Int64
  /// The number of reads.
  var hits: Int
  /// The last use, in seconds since 1970; nil if the index has about the same time.
  var usedAt: Int?
}

/// The uses of entries that are not in the index yet (pure).
///
/// Times of use are exact to a minute, so that repeated reads of an image cause one write a minute. Reads of many
/// images share one write.
struct TouchLedger: Sendable {
  /// The index gets no use that is less than so many seconds after the one that it has.
  static let coarseness = 60
  /// So many entries cause a write.
  static let batch = 64
  /// The least seconds between two writes, unless the batch is full.
  static let pause = 1.0

  /// The most entries to remember if they cannot be written, as on a read-only file system.
  static let maximumCount = 1024

  private var touches: [Int64: Touch] = [:]
  private var misses = 0
  private var isDue = false
  private var wasRefused = false
  private var writtenAt = -Double.infinity

  init() {}

  /// The content of one write.
  struct Page: Sendable, Hashable {
    var touches: [Touch]
    var hits: Int
    var misses: Int

    var isEmpty: Bool { touches.isEmpty && misses == 0 }
  }

  /// Notes reads of an entry.
  ///
  /// - Parameters:
  ///   - identifier: The entry.
  ///   - times: The number of reads; zero if they do not count, such as those of responses.
  ///   - usedAt: The last use in the index.
  ///   - now: Seconds since 1970.
  mutating func noteHit(_ identifier: Int64, times: Int = 1, usedAt: Int, now: Int) {
    var touch = touches[identifier] ?? Touch(identifier: identifier, hits: 0)
    touch.hits += times
    // A time in the future is from a clock that was set back since.
    if usedAt > now || now - usedAt >= Self.coarseness {
      touch.usedAt = now
      isDue = true
    }
    if touch.hits > 0 || touch.usedAt != nil { touches[identifier] = touch }
  }

  mutating func noteMiss() { misses += 1 }

  /// Whether a write is due.
  func isDue(now: Double) -> Bool {
    let isPauseOver = now - writtenAt >= Self.pause || now < writtenAt
    if touches.count >= Self.batch || misses >= Self.batch { return isPauseOver || !wasRefused }
    return isDue && isPauseOver
  }

  /// Removes and returns the uses to write.
  mutating func takePage(now: Double) -> Page {
    let page = Page(
      touches: touches.values.sorted { $0.identifier < $1.identifier },
      hits: touches.values.reduce(0) { $0 + $1.hits },
      misses: misses
    )
    self = TouchLedger()
    writtenAt = now
    return page
  }

  /// Puts back uses that could not be written.
  ///
  /// Drops them if there are too many.
  mutating func putBack(_ page: Page) {
    wasRefused = true
    guard touches.count + page.touches.count <= Self.maximumCount else { return }
    misses += page.misses
    for old in page.touches {
      guard var touch = touches[old.identifier] else {
        touches[old.identifier] = old
        continue
      }
      touch.hits += old.hits
      touch.usedAt = touch.usedAt ?? old.usedAt
      touches[old.identifier] = touch
    }
    isDue = touches.values.contains { $0.usedAt != nil }
  }
}
