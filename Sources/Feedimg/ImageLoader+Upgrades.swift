import FeedimgModel
import FeedimgPolicy

/// What somebody was given to show of an item, and what was said then of when there would be a better one.
package struct ShownItem: Sendable, Hashable {
  package var item: FeedItem
  package var image: ShownImage
  package var upgrade: Upgrade

  package init(_ item: FeedItem, _ image: ShownImage, upgrade: Upgrade) {
    (self.item, self.image, self.upgrade) = (item, image, upgrade)
  }
}

extension ImageLoader {
  /// What is decided now of items that are shown.
  ///
  /// - Parameter shown: What is shown; its rule says by which change a better image may take its place, if the rules
  ///   of the policy say so at all.
  /// - Returns: For each item, in order, the decision for a better image; nil where what is shown stays.
  package func upgrades(of shown: [ShownItem]) -> [Resolution?] {
    let isSpoken = policy.current().table.speaksOfUpgrades
    return zip(shown, resolve(shown.map(\.item))).map { shown, resolution in
      guard resolution.decision.image > shown.image else { return nil }
      let isDue =
        shown.image == .placeholder || resolution.decision.load == nil
        || UpgradeRule.allows(shown.upgrade, isSpoken: isSpoken, in: resolution.situation)
      return isDue ? resolution : nil
    }
  }
}
