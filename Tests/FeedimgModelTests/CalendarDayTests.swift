import FeedimgModel
import Testing

struct CalendarDayTests {
  static let days = [
    ("1970-01-01", 0), ("1970-01-02", 1), ("1969-12-31", -1), ("2000-02-29", 11_016), ("2000-03-01", 11_017),
    ("1900-03-01", -25_508), ("2026-11-21", 20_778), ("0001-01-01", -719_162), ("9999-12-31", 2_932_896),
  ]

  @Test(arguments: days)
  func `a day and its distance from 1970 convert to each other`(_ text: String, _ count: Int) throws {
    let day = try #require(CalendarDay(text))
    #expect(day.daysSince1970 == count)
    #expect(CalendarDay(daysSince1970: count) == day)
    #expect(day.description == text)
  }

  @Test func `every day of four centuries comes after the one before`() {
    var last = CalendarDay(daysSince1970: -1)
    for count in 0..<146_097 {
      let day = CalendarDay(daysSince1970: count)
      #expect(day.daysSince1970 == count && last < day)
      last = day
    }
  }

  static let slips = [
    "", "2026-11", "2026-11-31", "2026-02-29", "2026-13-01", "2026-00-01", "2026-11-00", "0000-01-01",
    "2026/11/21", "26-11-21", "2026-1-21", "2026-11-2x", "-026-11-21", "2026-11-21 ", "２026-11-21",
  ]

  @Test(arguments: slips)
  func `an invalid day is refused`(_ text: String) { #expect(CalendarDay(text) == nil) }

  @Test func `a day beyond the calendar becomes its first or last day`() {
    #expect(CalendarDay(daysSince1970: .max).description == "9999-12-31")
    #expect(CalendarDay(daysSince1970: .min).description == "0001-01-01")
    #expect(CalendarDay(daysSince1970: 0).advanced(by: .min).description == "0001-01-01")
  }
}
