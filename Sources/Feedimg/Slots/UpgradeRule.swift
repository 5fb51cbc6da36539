package import FeedimgModel
import FeedimgPolicy

/// Whether an image that is shown gives way to a better one, now that the facts have changed.
///
/// A table with an `upgrade` column says what event it waits for. One that never says any has no opinion: then any
/// change after which the table decides for a better image is event enough.
enum UpgradeRule {
  /// Whether what the decision said of an image that is shown has happened, if its table ever says anything.
  static func allows(_ upgrade: Upgrade, isSpoken: Bool, in situation: Situation) -> Bool {
    guard isSpoken else { return true }
    return switch upgrade {
    case .never, .onTap: false
    case .online: situation.network != .offline
    case .wifi: situation.network == .wifi || situation.network == .ethernet
    case .unmetered: situation.network != .offline && situation.metered == .no
    case .home: situation.network != .offline && !situation.isRoaming
    }
  }
}

extension Decision {
  /// When it is worth resolving again for who was given something by this decision.
  ///
  /// - Parameter shown: What was given; where that is less than was decided, as the original failed, no rule says when.
  /// - Returns: Then as soon as something changes.
  package func upgrade(of shown: ShownImage) -> Upgrade { shown < image ? .online : upgrade }
}

extension PolicyTable {
  /// Whether any rule says an event to upgrade at.
  var speaksOfUpgrades: Bool { rules.contains { $0.outcome.upgrade != .never } }

  /// Whether any rule says how soon a load is wanted.
  var speaksOfPriority: Bool { rules.contains { $0.outcome.priority != .now } }
}
