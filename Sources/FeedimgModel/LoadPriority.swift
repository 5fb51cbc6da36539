/// How urgently somebody wants an image, the least urgent first.
public enum LoadPriority: Int, Sendable, Hashable, CaseIterable, Comparable {
  /// Perhaps later.
  case prefetch
  /// Soon, such as just below the screen.
  case near
  /// On screen now.
  case visible

  /// Whether the first is less urgent.
  public static func < (first: LoadPriority, second: LoadPriority) -> Bool {
    first.rawValue < second.rawValue
  }
}
