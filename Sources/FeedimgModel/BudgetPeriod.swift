/// The month of a data budget, which starts on the day on which the user's contract renews.
public struct BudgetPeriod: Sendable, Hashable {
  /// From the first day to the last, both included.
  public let days: ClosedRange<CalendarDay>

  /// The period that contains a day.
  ///
  /// - Parameters:
  ///   - today: A day of the period.
  ///   - firstDay: The day of the month on which periods start, from 1 to 31. In shorter months, the period
  ///     starts on
  ///     the last day.
  public init(containing today: CalendarDay, firstDay: Int) {
    let start = Self.start(inMonthOf: today, firstDay)
    if start <= today {
      days = start...Self.start(inMonthOf: Self.firstOfNextMonth(today), firstDay).advanced(by: -1)
    } else {
      let lastMonth = today.advanced(by: -today.day)
      days = Self.start(inMonthOf: lastMonth, firstDay)...start.advanced(by: -1)
    }
  }

  private static func start(inMonthOf day: CalendarDay, _ firstDay: Int) -> CalendarDay {
    let last = CalendarDay.lastDay(ofMonth: day.month, year: day.year)
    return day.advanced(by: min(max(firstDay, 1), last) - day.day)
  }

  private static func firstOfNextMonth(_ day: CalendarDay) -> CalendarDay {
    day.advanced(by: CalendarDay.lastDay(ofMonth: day.month, year: day.year) - day.day + 1)
  }
}
