import FeedimgModel
import FeedimgPolicy

/// The rest of the budget at the time of a decision, and its source.
struct BudgetReading: Sendable, Hashable {
  /// The fact `budget left`; nil if no rule depends on it, or no budget is set.
  var left: ByteCount?
  /// The source of the fact, in words.
  var source = "no rule depends on it"
}

extension BudgetReading {
  /// Reads the ledger if a rule depends on the budget.
  init(for policy: CompiledPolicy, _ settings: UserSettings, _ usage: (any UsageKeeping)?) {
    guard policy.needsBudget else { return }
    source = "the setting cellular-budget is none"
    guard let usage else { return }
    var gap: String?
    let budget = CellularBudget(settings, today: usage.today()) { days in
      gap = usage.gap(on: days)
      return usage.usage(on: days)
    }
    guard let budget else { return }
    if let gap {
      // An unknown rest counts as zero, so that data is not spent twice.
      (left, source) = (ByteCount(0), "the setting cellular-budget, which counts as spent: \(gap)")
    } else {
      left = budget.left
      source = "the setting cellular-budget, less \(budget.used.rounded) since \(budget.days.lowerBound)"
    }
  }
}
