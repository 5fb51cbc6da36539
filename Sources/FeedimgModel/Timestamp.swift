/// A moment as RFC 3339 spells it.
package enum Timestamp {
  /// The date and time in UTC to the second, such as `2026-11-21T14:03:10Z`, from seconds since 1970.
  package static func text(_ seconds: Double) -> String {
    let seconds = seconds.isFinite ? Int(min(max(seconds, -1e11), 1e11).rounded(.down)) : 0
    let (days, clock) = parts(seconds)
    return "\(CalendarDay(daysSince1970: days))T\(clock)Z"
  }

  /// The days since 1970 and the time of day, such as `14:03:10`.
  static func parts(_ seconds: Int) -> (days: Int, clock: String) {
    var (days, rest) = seconds.quotientAndRemainder(dividingBy: 86_400)
    if rest < 0 { (days, rest) = (days - 1, rest + 86_400) }
    let clock = [rest / 3600, rest / 60 % 60, rest % 60].map { CalendarDay.padded($0, 2) }
    return (days, clock.joined(separator: ":"))
  }
}
