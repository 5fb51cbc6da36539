/// The urgency of an image, least urgent first.
public enum LoadPriority: Int, Sendable, Hashable, CaseIterable, Comparable {
  /// May be needed later.
  case prefetch
  /// Needed soon, for example just below the screen.
  case near
  /// On screen now.
  case visible

  /// Whether the first is less urgent.
  public static func < (first: LoadPriority, second: LoadPriority) -> Bool {
    first.rawValue < second.rawValue
  }
}
