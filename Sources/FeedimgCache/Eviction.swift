import FeedimgModel

/// Decides how much a budget must give up (pure).
///
/// What exceeds the budget goes at once, and with it a few entries more until a sixteenth is free, so that the next
/// commits find room without looking for something to remove, and none removes hundreds of files in a row, which
/// file systems take badly.
struct Eviction: Sendable, Hashable {
  /// What is stored, in bytes.
  var stored: Int
  /// What is about to be stored.
  var incoming: Int
  var limit: Int

  /// So many entries go at most beyond what must.
  static let step = 8

  init(stored: Int, incoming: Int = 0, limit: ByteCount) {
    // A total that was damaged must not overflow what is computed from it.
    self.stored = min(max(0, stored), 1 << 60)
    self.incoming = min(max(0, incoming), 1 << 60)
    self.limit = min(limit.bytes, 1 << 60)
  }

  /// Whether what comes fits at all.
  var canFit: Bool { incoming <= limit }

  /// The bytes that have to go before what comes may be stored.
  var required: Int { max(0, stored + incoming - limit) }

  /// The bytes that should go, as far as a step reaches; none while nothing has to.
  var desired: Int { required == 0 ? 0 : required + limit / 16 }

  /// How many of these sizes, from the least recently used on, are to go.
  func count(of sizes: [Int]) -> Int {
    var freed = 0
    var extra = 0
    for (index, size) in sizes.enumerated() {
      if freed >= desired { return index }
      if freed >= required {
        guard extra < Self.step else { return index }
        extra += 1
      }
      freed += min(max(0, size), 1 << 60)
      if freed < 0 || freed > 1 << 61 { return index + 1 }
    }
    return sizes.count
  }
}
