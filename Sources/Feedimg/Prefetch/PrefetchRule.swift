import FeedimgModel
import FeedimgPipeline

/// Decides whether to fetch an image that no view shows yet.
///
/// Only an image that the policy would load is fetched, and only while data is free. A table with a
/// `priority` column makes one exception: `now` and `soon` permit the load at any cost, and `idle` does not.
enum PrefetchRule {
  enum Verdict: Hashable {
    case load(ImageVariant.Role)
    case skip(Prefetch.Reason)
  }

  /// Returns the image to fetch, or the reason to skip the item.
  ///
  /// If the item may wait for a better network, a cached thumbnail is not enough where the original could
  /// be loaded there.
  static func verdict(
    _ decision: Decision,
    in situation: Situation,
    setsPriority: Bool,
    waits: Bool = false
  ) -> Verdict {
    let isOffline = situation.network == .offline
    let isFree = situation.metered == .no && !situation.isRoaming && !situation.savesData
    guard let role = decision.load else {
      guard decision.source == .cache else { return .skip(isOffline ? .offline : .policy) }
      guard waits, decision.image == .thumbnail, situation.original == .remote else { return .skip(.cached) }
      return .skip(isOffline ? .offline : isFree ? .cached : .dataCosts)
    }
    guard setsPriority ? isFree || decision.urgency != .idle : isFree else { return .skip(.dataCosts) }
    return .load(role)
  }
}
