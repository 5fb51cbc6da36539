import FeedimgModel
import FeedimgPipeline
import FeedimgPolicy

/// Decides when a better image is worth its bytes.
extension SlotTask {
  /// Returns whether the decision is better than the shown image and may replace it.
  ///
  /// An item that was just bound waits for no network event.
  func isWorthwhile(
    _ resolution: Resolution,
    beside shown: Presentation,
    isJustBound: Bool
  ) -> Bool {
    guard resolution.decision.image > shown.shown else { return false }
    guard let image = shown.image, resolution.decision.load != nil, !handle.requestsOriginal else {
      return true
    }
    // An upgrade costs data, so it is only for a visible image.
    guard handle.priority == .visible else { return false }
    return isJustBound
      || UpgradeRule.isDue(
        insteadOf: shown.shown,
        from: image.resolution.situation,
        in: resolution.situation,
        by: loader.policy.current()
      )
  }
}
