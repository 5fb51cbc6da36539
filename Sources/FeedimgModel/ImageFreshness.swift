package import FeedimgJSON

/// Whether an image may be out of date, by the rules for private caches (RFC 9111).
///
/// A cached image is shown whatever this says; it decides only whether showing it also starts a revalidation.
public struct ImageFreshness: Sendable, Hashable {
  /// Whether the image need not be asked about.
  public var isFresh: Bool
  /// What holds, such as `fresh`, `stale` or `must be asked about`.
  public var state: String
  /// The rule that decided and its source, such as `max-age=60 (RFC 9111 §5.2.2.1)`.
  public var rule: String
  /// Seconds since its server made it, or last said that it is still the same.
  public var age: Double
  /// Seconds for which it stays fresh; negative since it became stale.
  public var left: Double
  /// Whether its server is being asked about it because it was shown.
  public var isRevalidating: Bool

  package init(
    isFresh: Bool,
    state: String,
    rule: String,
    age: Double,
    left: Double,
    isRevalidating: Bool = false
  ) {
    self.isFresh = isFresh
    self.state = state
    self.rule = rule
    self.age = age
    self.left = left
    self.isRevalidating = isRevalidating
  }
}

extension ImageFreshness: JSONConvertible {
  package var jsonValue: JSONValue {
    [
      "state": .string(state), "rule": .string(rule), "age": .integer(Self.whole(age)),
      "left": .integer(Self.whole(left)), "revalidating": .bool(isRevalidating),
    ]
  }

  /// Clocks may say anything.
  private static func whole(_ seconds: Double) -> Int {
    seconds.isNaN ? 0 : Int(min(max(seconds, -1e12), 1e12).rounded(.down))
  }
}
