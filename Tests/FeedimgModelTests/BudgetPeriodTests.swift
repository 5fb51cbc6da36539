import FeedimgModel
import Testing

struct BudgetPeriodTests {
  static let periods: [(String, Int, String, String, String)] = [
    ("2026-11-21", 1, "2026-11-01", "2026-11-30", "a calendar month"),
    ("2026-11-01", 1, "2026-11-01", "2026-11-30", "its first day"),
    ("2026-11-30", 1, "2026-11-01", "2026-11-30", "its last day"),
    ("2026-11-21", 21, "2026-11-21", "2026-12-20", "the day on which it begins"),
    ("2026-11-20", 21, "2026-10-21", "2026-11-20", "the day before"),
    ("2026-01-05", 15, "2025-12-15", "2026-01-14", "across a new year"),
    ("2026-12-31", 15, "2026-12-15", "2027-01-14", "across the next one"),
    ("2026-02-28", 31, "2026-02-28", "2026-03-30", "a month without that day begins on its last"),
    ("2026-02-27", 31, "2026-01-31", "2026-02-27", "and the period before ends there"),
    ("2028-02-29", 30, "2028-02-29", "2028-03-29", "a leap day"),
    ("2026-04-30", 31, "2026-04-30", "2026-05-30", "a month of thirty days"),
    ("2026-05-31", 31, "2026-05-31", "2026-06-29", "a month of thirty-one"),
    ("2026-11-21", 0, "2026-11-01", "2026-11-30", "no such day, too low"),
    ("2026-11-21", 99, "2026-10-31", "2026-11-29", "no such day, too high"),
  ]

  @Test(arguments: periods)
  func `a period starts on the user's day of the month`(
    _ today: String,
    _ firstDay: Int,
    _ first: String,
    _ last: String,
    _ reason: String
  ) throws {
    let period = BudgetPeriod(containing: try #require(CalendarDay(today)), firstDay: firstDay)
    #expect("\(period.days.lowerBound) \(period.days.upperBound)" == "\(first) \(last)", "\(reason)")
  }

  @Test(arguments: 1...31)
  func `periods follow each other without gap or overlap`(_ firstDay: Int) {
    var day = CalendarDay(daysSince1970: 19_000)
    for _ in 0..<60 {
      let period = BudgetPeriod(containing: day, firstDay: firstDay)
      let next = BudgetPeriod(containing: period.days.upperBound.advanced(by: 1), firstDay: firstDay)
      #expect(next.days.lowerBound == period.days.upperBound.advanced(by: 1))
      #expect(period.days.contains(day))
      day = next.days.lowerBound
    }
  }
}
