import FeedimgModel
import FeedimgPipeline
import FeedimgPolicy

/// What somebody was given to show of an item, and in what situation.
package struct ShownItem: Sendable, Hashable {
  package var item: FeedItem
  package var image: ShownImage
  package var situation: Situation

  package init(_ item: FeedItem, _ image: ShownImage, in situation: Situation) {
    (self.item, self.image, self.situation) = (item, image, situation)
  }
}

extension ImageLoader {
  /// What is decided now of items that are shown.
  ///
  /// - Parameter shown: What is shown; where it takes another network to have a better image, the policy may say what
  ///   event of the network it waits for.
  /// - Returns: For each item, in order, the decision for a better image; nil where what is shown stays.
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
