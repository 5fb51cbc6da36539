package import FeedimgModel
import Glibc

/// The days of the user's time zone.
package enum LocalCalendar {
  /// The day of a moment.
  ///
  /// - Parameter seconds: Since 1970.
  /// - Returns: By the time zone that holds now; a moment that the calendar cannot tell has the day of UTC.
  package static func day(at seconds: Double) -> CalendarDay {
    var moment = time_t(exactly: seconds.rounded(.down)) ?? 0
    var parts = tm()
    // A program that runs for long travels with its user: `localtime_r` alone keeps to the zone that it saw first
    // (localtime_r(3)). This takes a microsecond, and is safe for any thread.
    tzset()
    guard localtime_r(&moment, &parts) != nil,
      let day = CalendarDay(
        year: Int(parts.tm_year) + 1900,
        month: Int(parts.tm_mon) + 1,
        day: Int(parts.tm_mday)
      )
    else { return CalendarDay(daysSince1970: Int(clamping: moment) / 86_400) }
    return day
  }
}
