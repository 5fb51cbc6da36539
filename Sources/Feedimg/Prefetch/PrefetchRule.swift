import FeedimgModel

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

  /// Whether to fetch what a resolution says, by a table that ever speaks of priority or not.
  static func verdict(_ resolution: Resolution, speaksOfPriority: Bool) -> Verdict {
    let (decision, situation) = (resolution.decision, resolution.situation)
    guard let role = decision.load else {
      let isOffline = situation.network == .offline && decision.source != .cache
      return .skip(decision.source == .cache ? .cached : isOffline ? .offline : .policy)
    }
    let isFree = situation.metered == .no && !situation.isRoaming && !situation.savesData
    guard speaksOfPriority ? isFree || decision.urgency != .idle : isFree else { return .skip(.dear) }
    return .load(role)
  }
}
