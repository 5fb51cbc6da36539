import FeedimgModel
import FeedimgPipeline
import FeedimgPolicy

/// The image shown for an item, and the situation in which it was chosen.
package struct ShownItem: Sendable, Hashable {
  package var item: FeedItem
  package var image: ShownImage
  package var situation: Situation

  package init(_ item: FeedItem, _ image: ShownImage, in situation: Situation) {
    (self.item, self.image, self.situation) = (item, image, situation)
  }
}

extension ImageLoader {
  /// Decides whether shown items should now get a better image.
  ///
  /// If the better image needs another network, the policy may name the network event to wait for.
  ///
  /// - Returns: For each item, in order, the decision for a better image; nil if the shown image stays.
  package func upgrades(of shown: [ShownItem]) -> [Resolution?] {
    let policy = policy.current()
    return zip(shown, resolve(shown.map(\.item))).map { shown, resolution in
      guard resolution.decision.image > shown.image else { return nil }
      let isDue =
        shown.image == .placeholder || resolution.decision.load == nil
        || UpgradeRule.isDue(
          insteadOf: shown.image,
          from: shown.situation,
          in: resolution.situation,
          by: policy
        )
      return isDue ? resolution : nil
    }
  }
}
