import Glibc

/// The time of day as text.
enum WallClock {
  /// The local time of day, such as `14:03:10`.
  static func timeOfDay() -> String {
    var now = time(nil)
    var parts = tm()
    localtime_r(&now, &parts)
    return [parts.tm_hour, parts.tm_min, parts.tm_sec].map { $0 < 10 ? "0\($0)" : "\($0)" }
      .joined(separator: ":")
  }

  /// The time in UTC with milliseconds in the form of RFC 3339, such as `2026-11-21T14:03:10.250Z`.
  static func timestamp() -> String {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    var parts = tm()
    gmtime_r(&now.tv_sec, &parts)
    func digits(_ number: Int, _ width: Int) -> String {
      let text = String(number)
      return String(repeating: "0", count: max(0, width - text.count)) + text
    }
    let date = [(parts.tm_year + 1900, 4), (parts.tm_mon + 1, 2), (parts.tm_mday, 2)]
    let time = [parts.tm_hour, parts.tm_min, parts.tm_sec]
    return date.map { digits(Int($0), $1) }.joined(separator: "-") + "T"
      + time.map { digits(Int($0), 2) }.joined(separator: ":") + "." + digits(now.tv_nsec / 1_000_000, 3)
      + "Z"
  }

  /// A local date and time, such as `2026-11-21 14:03`.
  ///
  /// - Parameter seconds: The time, in seconds since 1970.
  /// - Returns: The time in the user's time zone.
  static func date(_ seconds: Double) -> String {
    var moment = time_t(seconds)
    var parts = tm()
    localtime_r(&moment, &parts)
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday)) "
      + "\(two(parts.tm_hour)):\(two(parts.tm_min))"
  }
}
