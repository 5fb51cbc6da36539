public import Feedimg
import FeedimgJSON
import FeedimgPolicy

extension Policies {
  /// Where two policies decide differently.
  public struct Comparison: Sendable {
    /// States with the same change.
    public struct Change: Sendable {
      /// Such as `load nothing → original   (2 states)`.
      public var headline: String
      /// The states, as few boxes in words.
      public var boxes: [String]
      /// Whether the second policy loads more there (1), less (-1) or as much.
      public var weight: Int
    }

    /// Such as `default → data-saver: 126 of 540 states differ; 120 load less, 6 load more`.
    public var headline: String
    /// Where less is loaded, then where more is, then the others.
    public var changes: [Change]
    /// In how many states the second policy loads more.
    public var moreCount: Int
    /// What the user should know, such as that a file is refused.
    public var warnings: [String]
    /// The same as one line of JSON.
    public var json: String
  }

  /// Compares two policies in every state that either can tell apart.
  ///
  /// - Parameters:
  ///   - old: The name or file of the one to compare with.
  ///   - new: The name or file of the other.
  /// - Returns: The states in which something else is shown or loaded.
  /// - Throws: ``PolicyFault`` where one cannot be read or is not total.
  public func compare(_ old: String, _ new: String) throws(PolicyFault) -> Comparison {
    let (one, other) = (try asked(old), try asked(new))
    do throws(PolicyErrors) {
      let diff = try PolicyDiff(from: one.table, to: other.table)
      return Comparison(
        headline: diff.headline,
        changes: diff.changes.map {
          Comparison.Change(headline: $0.headline, boxes: $0.boxes, weight: $0.weight)
        },
        moreCount: diff.moreCount,
        warnings: one.warnings + other.warnings,
        json: diff.json.text(.compact)
      )
    } catch {
      throw PolicyFault(error.errors.map(\.description))
    }
  }
}
