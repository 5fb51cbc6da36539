/// Orders readings of one source, which threads may start at the same time and finish in any order.
///
/// Each reading gets a number when it starts. A reading with a higher number sees all changes of a lower one.
package struct ReadingOrder: Sendable {
  /// The number of readings that have started.
  package private(set) var count = 0
  private var ended = 0
  private var needed = 1

  package init() {}

  /// Whether a reading that started after the last change has ended.
  package var isCurrent: Bool { ended >= needed }

  /// Records a change: only readings that start after this call are current.
  package mutating func invalidate() { needed = count + 1 }

  /// Starts a reading, and returns its number.
  package mutating func begin() -> Int {
    count += 1
    return count
  }

  /// Ends a reading.
  ///
  /// - Returns: Whether to keep its result; false if a later reading has ended.
  package mutating func end(_ number: Int) -> Bool {
    guard number > ended else { return false }
    ended = number
    return true
  }
}
