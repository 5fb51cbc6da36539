package import FeedimgModel
package import FeedimgPolicy

/// The state of the budget at the time of a decision.
package enum BudgetReading: Sendable, Hashable {
  /// No rule depends on the budget, so it was not read.
  case notRead
  case unset
  case known(CellularBudget)
  /// The remaining budget is unknown, for this reason; it counts as zero, so that data is not spent twice.
  case unreadable(String)

  /// Reads the ledger if a rule depends on the budget.
  package init(
    for policy: CompiledPolicy,
    _ settings: UserSettings,
    _ usage: (any UsageKeeping)?
  ) {
    guard policy.needsBudget else {
      self = .notRead
      return
    }
    guard let usage, settings.cellularBudget != nil else {
      self = .unset
      return
    }
    var gap: String?
    let budget = CellularBudget(settings, today: usage.today()) { days in
      gap = usage.gap(on: days)
      return usage.usage(on: days)
    }
    self = gap.map(BudgetReading.unreadable) ?? budget.map(BudgetReading.known) ?? .unset
  }

  /// The fact `budget left`; nil if no rule depends on it, or no budget is set.
  package var left: ByteCount? {
    switch self {
    case .notRead, .unset: nil
    case .known(let budget): budget.left
    case .unreadable: ByteCount(0)
    }
  }

  /// The source of the fact, in words.
  package var source: String {
    switch self {
    case .notRead: "no rule depends on it"
    case .unset: "the setting cellular-budget is none"
    case .known(let budget):
      "the setting cellular-budget, less \(budget.used.rounded) since \(budget.days.lowerBound)"
    case .unreadable(let reason): "the setting cellular-budget, which counts as spent: \(reason)"
    }
  }
}
