import FeedimgModel

/// Decides how much a budget must give up (pure).
///
/// What exceeds the budget goes at once, and with it a few entries more until a sixteenth is free, so that the next
/// commits find room without looking for something to remove, and none removes hundreds of files in a row, which
/// file systems take badly.
struct Eviction: Sendable, Hashable {
  /// The bytes that have to go before what comes may be stored.
  let required: Int
  /// The bytes that should go, as far as a step reaches; none while nothing has to.
  let desired: Int

  private var freed = 0
  private var extra = 0

  /// So many entries go at most beyond what must.
  static let step = 8

  /// Where it is to be exact, nothing goes beyond what must, as nothing is about to come.
  init(stored: Int, incoming: Int = 0, limit: ByteCount, isExact: Bool = false) {
    // A total that was damaged must not overflow what is computed from it.
    func bounded(_ count: Int) -> Int { min(max(0, count), 1 << 60) }
    required = max(0, bounded(stored) + bounded(incoming) - bounded(limit.bytes))
    desired = required == 0 || isExact ? required : required + bounded(limit.bytes) / 16
  }

  /// Whether what had to go has been taken.
  var isEnough: Bool { freed >= required }

  /// Whether the next entry, from the least recently used on, is to go.
  mutating func takes(_ size: Int) -> Bool {
    guard freed < desired else { return false }
    if isEnough {
      guard extra < Self.step else { return false }
      extra += 1
    }
    freed = min(freed + min(max(0, size), 1 << 61), 1 << 61)
    return true
  }
}
