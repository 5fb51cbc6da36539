package import FeedimgModel
import Glibc

/// The days of the user's time zone.
package enum LocalCalendar {
  /// The day of a moment.
  ///
  /// - Parameter seconds: Since 1970.
  /// - Returns: The day in the current time zone. If the C library cannot convert the moment, the day in UTC.
  package static func day(at seconds: Double) -> CalendarDay {
    var moment = time_t(exactly: seconds.rounded(.down)) ?? 0
    var parts = tm()
    // The time zone may change while the program runs, but `localtime_r` alone uses the first one (localtime_r(3)).
    // tzset(3) takes a microsecond, and is safe on any thread.
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
