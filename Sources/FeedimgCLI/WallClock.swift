import Feedimg
import Glibc

/// The time of day as text.
enum WallClock {
  /// The local time of day, such as `14:03:10`.
  static func timeOfDay() -> String { local(time(nil), "%H:%M:%S") }

  /// A local date and time, such as `2026-11-21 14:03`, from seconds since 1970.
  static func date(_ seconds: Double) -> String { local(time_t(seconds), "%F %H:%M") }

  /// The time in UTC with milliseconds in the form of RFC 3339, such as `2026-11-21T14:03:10.250Z`.
  static func timestamp() -> String {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    let milliseconds = String(now.tv_nsec / 1_000_000 + 1000).dropFirst()
    return "\(Timestamp.text(Double(now.tv_sec)).dropLast()).\(milliseconds)Z"
  }

  /// A local time in a format of strftime(3).
  private static func local(_ seconds: time_t, _ format: String) -> String {
    var (seconds, parts) = (seconds, tm())
    localtime_r(&seconds, &parts)
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
      guard let start = buffer.baseAddress, strftime(start, buffer.count, format, [parts]) > 0 else {
        return ""
      }
      return String(cString: start)
    }
  }
}
