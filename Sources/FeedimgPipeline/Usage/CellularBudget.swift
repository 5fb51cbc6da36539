public import FeedimgModel

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
      usage(period).lazy.filter { $0.network == .cellular }.reduce(0) {
        // Any program can write to the ledger file, so a sum that overflows becomes the largest number.
        let (sum, isTooGreat) = $0.addingReportingOverflow($1.received.bytes)
        return isTooGreat ? .max : sum
      }
    )
  }
}
