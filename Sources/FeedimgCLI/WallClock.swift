import Glibc

/// The time as people write it.
enum WallClock {
  /// The local time of day, such as `14:03:10`.
  static func timeOfDay() -> String {
    var now = time(nil)
    var parts = tm()
    localtime_r(&now, &parts)
    return [parts.tm_hour, parts.tm_min, parts.tm_sec].map { $0 < 10 ? "0\($0)" : "\($0)" }
      .joined(separator: ":")
  }

  /// A local date and time, such as `2026-11-21 14:03`.
  ///
  /// - Parameter seconds: Since 1970.
  /// - Returns: In the time zone of the user.
  static func date(_ seconds: Double) -> String {
    var moment = time_t(seconds)
    var parts = tm()
    localtime_r(&moment, &parts)
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday)) "
      + "\(two(parts.tm_hour)):\(two(parts.tm_min))"
  }
}
