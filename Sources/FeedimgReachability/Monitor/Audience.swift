import FeedimgModel

/// Those who want to hear of each change, and who of them has not heard anything yet.
struct Audience {
  typealias Seat = Int

  /// How to tell one of them; called on the thread that watches.
  struct Listener: Sendable {
    var tell: @Sendable (NetworkState) -> Void
    /// Called where there is nothing more to tell, though the listener did not leave.
    var end: @Sendable () -> Void = {}
  }

  private var listeners: [Seat: Listener] = [:]
  private var newcomers: [Seat] = []
  private var nextSeat = 0
  /// Whether the last one has left; nobody can join any more then.
  private(set) var isOver = false

  /// Takes a seat.
  ///
  /// - Returns: Nil where it is over.
  mutating func join(_ listener: Listener) -> Seat? {
    guard !isOver else { return nil }
    defer { nextSeat += 1 }
    listeners[nextSeat] = listener
    newcomers.append(nextSeat)
    return nextSeat
  }

  /// Leaves a seat.
  ///
  /// - Returns: Whether that was the last one.
  mutating func leave(_ seat: Seat) -> Bool {
    guard listeners.removeValue(forKey: seat) != nil, listeners.isEmpty else { return false }
    isOver = true
    return true
  }

  /// Those to tell of a change: all of them.
  mutating func everybody() -> [Listener] {
    newcomers = []
    return Array(listeners.values)
  }

  /// Those to tell how things are.
  mutating func thoseNotYetTold() -> [Listener] {
    defer { newcomers = [] }
    return newcomers.compactMap { listeners[$0] }
  }
}
