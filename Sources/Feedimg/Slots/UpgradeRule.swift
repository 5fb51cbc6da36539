import FeedimgModel
import FeedimgPipeline
import FeedimgPolicy

/// Whether an image that is shown gives way to a better one, now that the facts have changed.
///
/// A table with an `upgrade` column says what event of the network it waits for. One that never says any has no opinion:
/// then any change after which the table decides for a better image is event enough.
enum UpgradeRule {
  /// Whether a better image is due by now.
  ///
  /// An event is waited for only where it takes another network to have the better image. What would be had on the old
  /// one as well, now that the user or the table says otherwise or as the original had failed, is due at once.
  ///
  /// - Parameters:
  ///   - shown: What is shown.
  ///   - past: The situation in which that was decided.
  ///   - present: The situation in which something better is decided.
  ///   - policy: The one that decides now, which also says what event it waits for.
  /// - Returns: False where the event has not happened.
  static func isDue(
    insteadOf shown: ShownImage,
    from past: Situation,
    in present: Situation,
    by policy: CompiledPolicy
  ) -> Bool {
    let decision = policy.decide(past.asTheUserWants(in: present))
    return decision.image > shown
      || allows(decision.upgrade, isSpoken: policy.table.speaksOfUpgrades, in: present)
  }

  /// Whether what a decision waits for has happened, if its table ever says anything.
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

extension Situation {
  /// The same network and item, with what the user wants by now: the settings, and what is left of the budget.
  fileprivate func asTheUserWants(in present: Situation) -> Situation {
    var situation = self
    situation.savesData = present.savesData
    situation.alwaysOriginal = present.alwaysOriginal
    situation.budgetLeft = present.budgetLeft
    return situation
  }
}

extension PolicyTable {
  /// Whether any rule says an event to upgrade at.
  var speaksOfUpgrades: Bool { rules.contains { $0.outcome.upgrade != .never } }

  /// Whether any rule says how soon a load is wanted, be it `now`.
  var speaksOfPriority: Bool { rules.contains { $0.outcome.priority != nil } }
}
