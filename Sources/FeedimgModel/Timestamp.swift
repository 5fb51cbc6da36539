/// A moment as RFC 3339 spells it.
package enum Timestamp {
  /// The date and time in UTC to the second, such as `2026-11-21T14:03:10Z`, from seconds since 1970.
  package static func text(_ seconds: Double) -> String {
    let seconds = seconds.isFinite ? Int(min(max(seconds, -1e11), 1e11).rounded(.down)) : 0
    let day = seconds / 86_400 - (seconds % 86_400 < 0 ? 1 : 0)
    let rest = seconds - day * 86_400
    let time = [rest / 3600, rest / 60 % 60, rest % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
    return "\(CalendarDay(daysSince1970: day))T\(time.joined(separator: ":"))Z"
  }
}
