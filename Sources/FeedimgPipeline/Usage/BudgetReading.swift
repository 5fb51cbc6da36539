package import FeedimgModel
package import FeedimgPolicy

/// What is known of the budget where something is decided.
package enum BudgetReading: Sendable, Hashable {
  /// No rule depends on it, so nobody has looked.
  case unasked
  case unset
  case known(CellularBudget)
  /// Why nobody can tell what is left; it counts as nothing, rather than be spent twice.
  case unreadable(String)

  /// Looks at the ledger only where a rule depends on it.
  package init(
    for policy: CompiledPolicy,
    _ settings: UserSettings,
    _ usage: (any UsageKeeping)?
  ) {
    guard policy.asks(.budgetLeft) || policy.asks(.fits) else {
      self = .unasked
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

  /// The fact `budget left`; nil where nobody asks, or there is no budget.
  package var left: ByteCount? {
    switch self {
    case .unasked, .unset: nil
    case .known(let budget): budget.left
    case .unreadable: ByteCount(0)
    }
  }

  /// Who says so.
  package var source: String {
    switch self {
    case .unasked: "the policy does not ask"
    case .unset: "the setting cellular-budget is none"
    case .known(let budget):
      "the setting cellular-budget, less \(budget.used.rounded) since \(budget.days.lowerBound)"
    case .unreadable(let reason): "the setting cellular-budget, which counts as spent: \(reason)"
    }
  }
}
