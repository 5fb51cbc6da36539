public import FeedimgModel
import FeedimgPolicy

/// The user's monthly budget for cellular data, and the rest of it.
public struct CellularBudget: Sendable, Hashable {
  /// The setting `cellular-budget`.
  public var limit: ByteCount
  /// The bytes received on cellular networks in this period.
  public var used: ByteCount
  /// The days of this period.
  public var days: ClosedRange<CalendarDay>

  /// The remaining budget; zero if more was used.
  public var left: ByteCount { ByteCount(limit.bytes - used.bytes) }

  /// Reads the budget of the period that contains `today`; nil if the settings have none.
  package init?(
    _ settings: UserSettings,
    today: CalendarDay,
    usage: (ClosedRange<CalendarDay>) -> [NetworkUsage]
  ) {
    guard let limit = settings.cellularBudget else { return nil }
    let period = BudgetPeriod(containing: today, firstDay: settings.cellularBudgetDay).days
    self.limit = limit
    days = period
    used = ByteCount(
      // Clamped, because any program can write any number to the ledger file.
      usage(period).lazy.filter { $0.network == .cellular }.reduce(0) { $0.addingClamped($1.received.bytes) }
    )
  }
}

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
    guard policy.depends(on: .budgetLeft) else { return }
    source = "the setting cellular-budget is none"
    guard let usage else { return }
    var gap: String?
    let budget = CellularBudget(settings, today: usage.today()) { days in
      let known = usage.usage(on: days)
      gap = known.gap
      return known.usage
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
