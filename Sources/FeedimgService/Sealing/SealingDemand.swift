/// Which bodies are asked for so often that a copy of them pays (pure).
///
/// To make a copy takes as long as some three clients save by it. Who has lost one waits longer for the next each time, so
/// that little is lost where more are wanted than can be kept, or none can be made.
struct SealingDemand {
  private struct Count {
    var asks = 0
    var needed = 2
  }

  /// More than can be kept at once.
  private static let greatestCount = 512
  private static let greatestNeed = 256

  private var counts: [String: Count] = [:]

  /// Takes note that a body was asked for of which there is no copy.
  ///
  /// - Returns: Whether one is due.
  mutating func ask(_ key: String) -> Bool {
    if counts.count >= Self.greatestCount, counts[key] == nil { counts.removeAll() }
    var count = counts[key] ?? Count()
    count.asks += 1
    let isDue = count.asks >= count.needed
    if isDue { count = Count(needed: min(2 * count.needed, Self.greatestNeed)) }
    counts[key] = count
    return isDue
  }
}
