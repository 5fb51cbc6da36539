import FeedimgModel
import FeedimgPipeline

/// Whether to fetch what nobody looks at yet.
///
/// What would be loaded is what the policy decides, no more. Where data costs, or may, nothing is prefetched, unless
/// the table has a word of its own on it: one with a `priority` column says by `now` and `soon` that a load is worth
/// it at any time, and by `idle` that it is not.
enum PrefetchRule {
  enum Verdict: Hashable {
    case load(ImageVariant.Role)
    case skip(Prefetch.Reason)
  }

  /// Whether to fetch what is decided, by a table that ever speaks of priority or not.
  ///
  /// - Parameters:
  ///   - decision: What is decided of the item.
  ///   - situation: In which it is.
  ///   - speaksOfPriority: Whether any rule of the table does.
  ///   - waits: Whether the item may wait for a better network: then its cached thumbnail is not all that is wanted of
  ///     it, if its original could be had there.
  /// - Returns: What to fetch, or why nothing is.
  static func verdict(
    _ decision: Decision,
    in situation: Situation,
    speaksOfPriority: Bool,
    waits: Bool = false
  ) -> Verdict {
    let isOffline = situation.network == .offline
    let isFree = situation.metered == .no && !situation.isRoaming && !situation.savesData
    guard let role = decision.load else {
      guard decision.source == .cache else { return .skip(isOffline ? .offline : .policy) }
      guard waits, decision.image == .thumbnail, situation.original == .remote else { return .skip(.cached) }
      return .skip(isOffline ? .offline : isFree ? .cached : .dear)
    }
    guard speaksOfPriority ? isFree || decision.urgency != .idle : isFree else { return .skip(.dear) }
    return .load(role)
  }
}
