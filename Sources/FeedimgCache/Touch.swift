/// The use of an entry, to be written down.
struct Touch: Sendable, Hashable {
  var identifier: Int64
  /// How often it was read.
  var hits: Int
  /// When it was read last, in seconds since 1970; nil where what is written down is near enough.
  var usedAt: Int?
}

/// The uses of entries that are not written down yet (pure).
///
/// The order of use need not be finer than a minute, so that an image which is shown again and again costs one write
/// a minute; and many images that are read at once are written down together.
struct TouchLedger: Sendable {
  /// An entry used so recently by the index is not touched; in seconds.
  static let coarseness = 60
  /// So many are written down at once at the latest.
  static let batch = 64
  /// After a write, so long nothing is written unless the batch is full; in seconds.
  static let pause = 1.0

  /// So many are remembered while they cannot be written, as on a read-only file system.
  static let greatestCount = 1024

  private var touches: [Int64: Touch] = [:]
  private var misses = 0
  private var isDue = false
  private var wasRefused = false
  private var writtenAt = -Double.infinity

  init() {}

  /// Everything that is to be written in one transaction.
  struct Page: Sendable, Hashable {
    var touches: [Touch]
    var hits: Int
    var misses: Int

    var isEmpty: Bool { touches.isEmpty && misses == 0 }
  }

  /// Notes that an entry was read so often which the index says to have been used at a time.
  mutating func noteHit(_ identifier: Int64, times: Int = 1, usedAt: Int, now: Int) {
    var touch = touches[identifier] ?? Touch(identifier: identifier, hits: 0)
    touch.hits += times
    // Times to come were written by a clock that has been set back since.
    if usedAt > now || now - usedAt >= Self.coarseness {
      touch.usedAt = now
      isDue = true
    }
    if touch.hits > 0 || touch.usedAt != nil { touches[identifier] = touch }
  }

  mutating func noteMiss() { misses += 1 }

  /// Whether a page should be written now.
  func isDue(now: Double) -> Bool {
    let isRested = now - writtenAt >= Self.pause || now < writtenAt
    if touches.count >= Self.batch || misses >= Self.batch { return isRested || !wasRefused }
    return isDue && isRested
  }

  /// Takes out what is to be written.
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

  /// Takes back a page that could not be written; when there are too many, how often and when is forgotten.
  mutating func putBack(_ page: Page) {
    wasRefused = true
    guard touches.count + page.touches.count <= Self.greatestCount else { return }
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
