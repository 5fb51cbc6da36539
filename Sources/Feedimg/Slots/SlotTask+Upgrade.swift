import FeedimgModel
import FeedimgPipeline
import FeedimgPolicy

/// When something better is worth its bytes.
extension SlotTask {
  /// Whether what is decided is better than what is shown, and may take its place.
  ///
  /// Who has just bound it, waits for no event.
  func isWorthwhile(
    _ resolution: Resolution,
    beside shown: Presentation,
    isJustBound: Bool
  ) -> Bool {
    guard resolution.decision.image > shown.shown else { return false }
    guard let image = shown.image, resolution.decision.load != nil, !handle.asksForOriginal else {
      return true
    }
    // An upgrade costs something: only for what is looked at.
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
