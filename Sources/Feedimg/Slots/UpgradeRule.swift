import FeedimgModel
import FeedimgPipeline
import FeedimgPolicy

/// Decides whether a better image replaces the shown one after the facts changed.
///
/// A table with an `upgrade` column names the network event to wait for. If no rule of a table names one,
/// every change that leads to a better image counts.
enum UpgradeRule {
  /// Returns whether a better image is due.
  ///
  /// An event is required only if the better image needs another network. It is due at once if the past
  /// network would serve too: because the user or the table changed, or because the original had failed.
  static func isDue(
    insteadOf shown: ShownImage,
    from past: Situation,
    in present: Situation,
    by policy: CompiledPolicy
  ) -> Bool {
    let decision = policy.decide(present.onNetwork(of: past))
    return decision.image > shown
      || allows(decision.upgrade, tableNamesEvents: policy.table.namesUpgradeEvents, in: present)
  }

  /// Returns whether the event of a decision has happened; true if the table names no events.
  static func allows(_ upgrade: Upgrade, tableNamesEvents: Bool, in situation: Situation) -> Bool {
    guard tableNamesEvents else { return true }
    return switch upgrade {
    case .never, .onTap: false
    case .online: situation.network != .offline
    case .wifi: situation.network == .wifi || situation.network == .ethernet
    case .unmetered: situation.network != .offline && situation.metered == .no
    case .home: situation.network != .offline && !situation.isRoaming
    }
  }
}

extension Situation {
  /// Returns the same facts on the network of another situation.
  fileprivate func onNetwork(of past: Situation) -> Situation {
    var situation = self
    situation.network = past.network
    situation.metered = past.metered
    situation.isRoaming = past.isRoaming
    situation.bandwidth = past.bandwidth
    return situation
  }
}

extension PolicyTable {
  /// Whether any rule names an upgrade event.
  var namesUpgradeEvents: Bool { rules.contains { $0.outcome.upgrade != .never } }

  /// Whether any rule sets a priority, `now` included.
  var setsPriority: Bool { rules.contains { $0.outcome.priority != nil } }
}

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
