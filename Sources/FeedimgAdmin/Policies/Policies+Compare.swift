public import Feedimg
import FeedimgJSON
import FeedimgPolicy

extension Policies {
  /// The states in which two policies decide differently.
  public struct Comparison: Sendable {
    /// The states with the same change.
    public struct Change: Sendable {
      /// One line such as `load nothing → original   (2 states)`.
      public var headline: String
      /// The states, in as few groups as possible, one line each.
      public var boxes: [String]
      /// Whether the second policy loads more there (1), less (-1) or the same (0).
      public var weight: Int
    }

    /// One line such as `default → data-saver: 126 of 540 states differ; 120 load less, 6 load more`.
    public var headline: String
    /// The changes that load less, then those that load more, then the others.
    public var changes: [Change]
    /// The number of states in which the second policy loads more.
    public var moreCount: Int
    /// Warnings for the user, such as that a file is refused.
    public var warnings: [String]
    /// The comparison as one line of JSON.
    public var json: String
  }

  /// Compares two policies in every state that either of them distinguishes.
  ///
  /// - Parameters:
  ///   - old: The name or file of the first policy.
  ///   - new: The name or file of the second policy.
  /// - Returns: The states in which the policies show or load something different.
  /// - Throws: ``PolicyFileError`` if a policy cannot be read or does not cover all states.
  public func compare(_ old: String, _ new: String) throws(PolicyFileError) -> Comparison {
    let (one, other) = (try named(old), try named(new))
    let diff = try convertingErrors { () throws(PolicyErrors) in
      try PolicyDiff(from: one.table, to: other.table)
    }
    return Comparison(
      headline: diff.headline,
      changes: diff.changes.map {
        Comparison.Change(headline: $0.headline, boxes: $0.boxes, weight: $0.weight)
      },
      moreCount: diff.moreCount,
      warnings: one.warnings + other.warnings,
      json: diff.json.text(.compact)
    )
  }
}
