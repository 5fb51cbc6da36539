import Feedimg

/// The freshness of an image as text.
enum FreshnessText {
  /// A line such as `stale for 40 s: max-age=60 (RFC 9111 §5.2.2.1); revalidating`.
  static func line(_ freshness: ImageFreshness) -> String {
    let suffix = freshness.isRevalidating ? "; revalidating" : ""
    return "\(state(freshness)): \(freshness.rule)\(suffix)"
  }

  /// A state such as `fresh for 9 min`.
  static func state(_ freshness: ImageFreshness) -> String {
    if freshness.isFresh { return "fresh for \(span(freshness.left))" }
    guard freshness.state.hasPrefix("stale"), freshness.left < 0 else { return freshness.state }
    return "\(freshness.state) for \(span(-freshness.left))"
  }

  /// A rounded duration, such as `40 s`, `9 min`, `3 h` or `12 days`.
  static func span(_ seconds: Double) -> String {
    let count = seconds.isFinite ? Int(min(max(seconds, 0), 1e15)) : 0
    return switch count {
    case ..<120: "\(count) s"
    case ..<7200: "\(count / 60) min"
    case ..<172_800: "\(count / 3600) h"
    default: "\(count / 86_400) days"
    }
  }
}
