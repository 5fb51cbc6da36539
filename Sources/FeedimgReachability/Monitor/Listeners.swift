import FeedimgModel

/// The listeners of a monitor, and the new ones among them.
struct Listeners {
  typealias ID = Int

  /// Callbacks, called on the monitor's thread.
  struct Listener: Sendable {
    var report: @Sendable (NetworkState) -> Void
    /// Called if the thread ends before the listener leaves.
    var end: @Sendable () -> Void = {}
  }

  private var listeners: [ID: Listener] = [:]
  private var newListeners: [ID] = []
  private var nextID = 0
  /// Whether the last listener has left.
  ///
  /// No listener can join after that.
  private(set) var isOver = false

  /// Adds a listener; nil after the last listener has left.
  mutating func join(_ listener: Listener) -> ID? {
    guard !isOver else { return nil }
    defer { nextID += 1 }
    listeners[nextID] = listener
    newListeners.append(nextID)
    return nextID
  }

  /// Removes a listener.
  ///
  /// - Returns: Whether it was the last one.
  mutating func leave(_ id: ID) -> Bool {
    guard listeners.removeValue(forKey: id) != nil, listeners.isEmpty else { return false }
    isOver = true
    return true
  }

  /// Returns all listeners, to notify them of a change.
  mutating func takeAll() -> [Listener] {
    newListeners = []
    return Array(listeners.values)
  }

  /// Returns the listeners that have received nothing yet, to notify them of the current state.
  mutating func takeNew() -> [Listener] {
    defer { newListeners = [] }
    return newListeners.compactMap { listeners[$0] }
  }
}
