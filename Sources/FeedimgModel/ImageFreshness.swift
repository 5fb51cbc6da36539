package import FeedimgJSON

/// Whether an image may be out of date, by the rules for private caches (RFC 9111).
///
/// Does not affect whether a cached image is shown; decides only whether showing it also starts a
/// revalidation.
public struct ImageFreshness: Sendable, Hashable {
  /// Whether the image needs no revalidation.
  public var isFresh: Bool
  /// The state, such as `fresh`, `stale` or `must-revalidate`.
  public var state: String
  /// The rule that decided and its source, such as `max-age=60 (RFC 9111 §5.2.2.1)`.
  public var rule: String
  /// Seconds since the server generated the image or last validated it.
  public var age: Double
  /// Seconds until the image becomes stale; negative after that.
  public var left: Double
  /// Whether a revalidation that showing the image started is running.
  public var isRevalidating = false

  package init(
    isFresh: Bool,
    state: String,
    rule: String,
    age: Double,
    left: Double
  ) {
    self.isFresh = isFresh
    self.state = state
    self.rule = rule
    self.age = age
    self.left = left
  }
}

extension ImageFreshness {
  package var jsonValue: JSONValue {
    [
      "state": .string(state), "rule": .string(rule), "age": .integer(Self.whole(age)),
      "left": .integer(Self.whole(left)), "revalidating": .bool(isRevalidating),
    ]
  }

  /// Limits the number, because clocks may give any value.
  private static func whole(_ seconds: Double) -> Int {
    seconds.isNaN ? 0 : Int(min(max(seconds, -1e12), 1e12).rounded(.down))
  }
}
