public import FeedimgModel

/// What the user wants to spend on cellular in a month, and what is left of it.
public struct CellularBudget: Sendable, Hashable {
  /// The setting `cellular-budget`.
  public var limit: ByteCount
  /// Received on cellular in this period.
  public var used: ByteCount
  /// The days of this period.
  public var days: ClosedRange<CalendarDay>

  /// Zero where more was used than meant.
  public var left: ByteCount { ByteCount(limit.bytes - used.bytes) }

  /// The budget of the settings; nil where there is none.
  ///
  /// - Parameters:
  ///   - settings: Tell the limit, and the day on which periods begin.
  ///   - today: A day of the period.
  ///   - usage: What was received on days; asked only where there is a budget.
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
      usage(period).lazy.filter { $0.network == .cellular }.reduce(0) {
        // The ledger is a file that anyone can write to: the greatest number stands for any greater sum.
        let (sum, isTooGreat) = $0.addingReportingOverflow($1.received.bytes)
        return isTooGreat ? .max : sum
      }
    )
  }
}
