import FeedimgModel

/// Since when classes can begin nothing, and how long they bear it.
///
/// Pure: times are on any clock that does not jump.
struct ClassHunger: Sendable {
  private var since: [LoadPriority: Duration] = [:]

  /// How long a class waits before it gets a place beyond the limits.
  ///
  /// Somebody looks at what is visible, and all places may be taken by what cannot be gone on with if it is stopped.
  static func patience(of priority: LoadPriority) -> Duration {
    priority == .visible ? .seconds(1) : LoadQueue.patience
  }

  /// Takes note of how a class is.
  ///
  /// - Returns: Whether it has waited for long enough.
  mutating func note(_ priority: LoadPriority, isHungry: Bool, at now: Duration) -> Bool {
    guard isHungry else {
      since[priority] = nil
      return false
    }
    let begun = since[priority] ?? now
    since[priority] = begun
    return now - begun >= Self.patience(of: priority)
  }

  /// Has it wait anew.
  mutating func forget(_ priority: LoadPriority) { since[priority] = nil }

  /// When the first of those that may be granted a place has waited for long enough.
  func deadline(of mayGrant: (LoadPriority) -> Bool) -> Duration? {
    since.filter { mayGrant($0.key) }.map { $0.value + Self.patience(of: $0.key) }.min()
  }
}

extension LoadQueue {
  /// So long a class waits without beginning anything, unless it is visible, before it gets a place beyond the limits.
  static let patience = Duration.seconds(10)
}
