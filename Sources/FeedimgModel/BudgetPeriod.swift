/// The month for which a budget holds, from the day on which the user's contract begins anew.
public struct BudgetPeriod: Sendable, Hashable {
  /// From the first day to the last.
  public let days: ClosedRange<CalendarDay>

  /// The period that a day is in.
  ///
  /// - Parameters:
  ///   - today: A day of the period.
  ///   - firstDay: The day of the month on which periods begin, from 1 to 31; months that are shorter begin theirs on
  ///     their last day.
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
