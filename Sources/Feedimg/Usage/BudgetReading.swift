import FeedimgModel
import FeedimgPolicy

/// What is known of the budget where something is decided.
enum BudgetReading: Sendable, Hashable {
  /// No rule depends on it, so nobody has looked.
  case unasked
  case unset
  case known(CellularBudget)

  /// Looks at the ledger only where a rule depends on it.
  init(
    for policy: CompiledPolicy,
    _ settings: UserSettings,
    _ usage: (any UsageKeeping)?
  ) {
    guard policy.table.columns.contains(where: { $0 == .budgetLeft || $0 == .fits }) else {
      self = .unasked
      return
    }
    guard let usage, settings.cellularBudget != nil else {
      self = .unset
      return
    }
    let budget = CellularBudget(settings, today: usage.today(), usage: usage.usage)
    self = budget.map(BudgetReading.known) ?? .unset
  }

  /// The fact `budget left`; nil where it is not known.
  var left: ByteCount? { if case .known(let budget) = self { budget.left } else { nil } }

  /// Who says so.
  var source: String {
    switch self {
    case .unasked: "the policy does not ask"
    case .unset: "the setting cellular-budget is none"
    case .known(let budget):
      "the setting cellular-budget, less \(budget.used.rounded) since \(budget.days.lowerBound)"
    }
  }
}
