import FeedimgModel

/// A second implementation of the shipped policies and the laws, to compare the engine with.
///
/// Written from the documentation, without any part of the engine.
enum NaiveEvaluator {
  /// A rule's image, its upgrade, and its number.
  private typealias Word = (Ceiling, Upgrade, Int)

  static func decision(of policy: String, in situation: Situation) -> Decision? {
    let word: Word? =
      switch policy {
      case "default": standard(situation)
      case "always-original": situation.network == .offline ? (.cached, .online, 1) : (.original, .never, 2)
      case "budgeted": budgeted(situation)
      case "data-saver": dataSaver(situation)
      case "metered": metered(situation)
      case "roaming-aware": roamingAware(situation)
      case "wifi-only": wifiOnly(situation)
      default: nil
      }
    return word.map { obeyingLaws($0, situation) }
  }

  private static func standard(_ situation: Situation) -> Word {
    if situation.original == .cached { return (.original, .never, 1) }
    switch situation.network {
    case .wifi, .ethernet: return (.original, .never, 2)
    case .cellular, .other: return situation.alwaysOriginal ? (.original, .never, 3) : (.thumbnail, .never, 4)
    case .offline: return situation.thumbnail == .cached ? (.thumbnail, .never, 5) : (.placeholder, .never, 6)
    }
  }

  private static func budgeted(_ situation: Situation) -> Word {
    if situation.original == .cached { return (.original, .never, 1) }
    if situation.network == .offline { return (.cached, .online, 2) }
    if situation.metered == .no { return (.original, .never, 3) }
    if let left = situation.budgetLeft {
      if left.bytes < 20_000_000 { return (.cached, .unmetered, 4) }
      if left.bytes >= 500_000_000, let size = situation.size, size.bytes <= 300_000 {
        return (.original, .never, 5)
      }
    }
    return (.thumbnail, .unmetered, 6)
  }

  private static func dataSaver(_ situation: Situation) -> Word {
    if situation.original == .cached { return (.original, .never, 1) }
    if situation.network == .offline { return (.cached, .unmetered, 2) }
    if situation.savesData { return (.cached, .onTap, 3) }
    return situation.metered == .no ? (.original, .never, 5) : (.thumbnail, .unmetered, 4)
  }

  private static func metered(_ situation: Situation) -> Word {
    if situation.original == .cached { return (.original, .never, 1) }
    let isLocal = situation.network == .wifi || situation.network == .ethernet
    if situation.network == .offline { return (.cached, .online, 2) }
    if situation.metered == .no { return (.original, .never, 3) }
    if isLocal, situation.metered == .unknown { return (.original, .never, 4) }
    return situation.alwaysOriginal ? (.original, .never, 5) : (.thumbnail, .unmetered, 6)
  }

  private static func roamingAware(_ situation: Situation) -> Word {
    if situation.original == .cached { return (.original, .never, 1) }
    switch situation.network {
    case .offline: return (.cached, .online, 2)
    case .wifi, .ethernet: return (.original, .never, 3)
    case .cellular, .other:
      if situation.isRoaming { return (.cached, .home, 4) }
      return situation.alwaysOriginal ? (.original, .never, 5) : (.thumbnail, .wifi, 6)
    }
  }

  private static func wifiOnly(_ situation: Situation) -> Word {
    if situation.original == .cached { return (.original, .never, 1) }
    let isLocal = situation.network == .wifi || situation.network == .ethernet
    return isLocal ? (.original, .never, 2) : (.cached, .wifi, 3)
  }

  /// Applies the five laws in their order.
  static func obeyingLaws(
    _ word: (image: Ceiling, upgrade: Upgrade, rule: Int),
    _ situation: Situation
  ) -> Decision {
    var decision = Decision(ceiling: .placeholder, in: situation, upgrade: word.upgrade, rule: word.rule)
    let isOffline = situation.network == .offline
    for role in [ImageVariant.Role.original, .thumbnail] {
      if word.image == .placeholder || (word.image == .thumbnail && role == .original) { continue }
      if situation[role] == .none { continue }
      if situation[role] == .cached {
        decision.image = ShownImage(role)
        decision.show = decision.image
        decision.source = .cache
        return decision
      }
      if word.image == .cached || isOffline { continue }
      decision.image = ShownImage(role)
      decision.source = .network
      decision.load = role
      decision.show = role == .original && situation.thumbnail == .cached ? .thumbnail : .placeholder
      return decision
    }
    return decision
  }
}
