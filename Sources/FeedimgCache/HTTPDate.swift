/// Dates of HTTP, in seconds since 1970 (RFC 9110 §5.6.7).
enum HTTPDate {
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]
  private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]

  /// Reads a date in the form of today or in one of the two obsolete ones; nil for anything else.
  ///
  /// The name of the day is not checked, as it says nothing that the date does not.
  ///
  /// - Parameters:
  ///   - text: The value of a field.
  ///   - now: Tells the century of years with two digits: none is more than 50 years ahead.
  /// - Returns: Seconds since 1970.
  static func parse(_ text: String, now: Double) -> Double? {
    let words = text.split { $0 == " " || $0 == "," || $0 == "-" }.map(String.init)
    guard let first = words.first, days.contains(where: { first.hasPrefix($0) }) else { return nil }
    switch words.count {
    case 6 where words[5] == "GMT":
      // Sun, 06 Nov 1994 08:49:37 GMT, or Sunday, 06-Nov-94 08:49:37 GMT
      return seconds(day: words[1], month: words[2], year: year(words[3], now: now), time: words[4])
    case 5:
      // Sun Nov  6 08:49:37 1994
      return seconds(day: words[2], month: words[1], year: number(words[4], digits: 4...4), time: words[3])
    default: return nil
    }
  }

  private static func year(_ text: String, now: Double) -> Int? {
    guard text.utf8.count == 2 else { return number(text, digits: 4...4) }
    guard let short = number(text, digits: 2...2) else { return nil }
    let current = civil(days: Milliseconds.count(now) / 86_400_000).year
    let year = current - current % 100 + short
    return year > current + 50 ? year - 100 : year
  }

  private static func seconds(day: String, month: String, year: Int?, time: String) -> Double? {
    let clock = time.split(separator: ":", omittingEmptySubsequences: false)
    guard let year, let day = number(day, digits: 1...2), (1...31).contains(day),
      let month = months.firstIndex(of: month), clock.count == 3,
      let hour = number(clock[0], digits: 2...2), hour < 24,
      let minute = number(clock[1], digits: 2...2), minute < 60,
      // Sixty is a leap second.
      let second = number(clock[2], digits: 2...2), second <= 60
    else { return nil }
    return Double(days(year: year, month: month + 1, day: day) * 86_400 + hour * 3600 + minute * 60 + second)
  }

  private static func number(_ text: some StringProtocol, digits: ClosedRange<Int>) -> Int? {
    guard digits.contains(text.utf8.count), text.utf8.allSatisfy({ (48...57).contains($0) }) else {
      return nil
    }
    return Int(text)
  }

  /// Writes a date in the form of today, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
  static func text(_ seconds: Double) -> String {
    let total = Milliseconds.count(seconds) / 1000
    let (day, rest) = total.quotientAndRemainder(dividingBy: 86_400)
    let number = rest < 0 ? day - 1 : day
    let time = rest < 0 ? rest + 86_400 : rest
    let date = civil(days: number)
    // 1970 began with a Thursday.
    let weekday = days[((number + 4) % 7 + 7) % 7]
    let clock = [time / 3600, time / 60 % 60, time % 60].map(padded).joined(separator: ":")
    let year = String(repeating: "0", count: max(0, 4 - String(date.year).count)) + String(date.year)
    return "\(weekday), \(padded(date.day)) \(months[date.month - 1]) \(year) \(clock) GMT"
  }

  private static func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

  // The proleptic Gregorian calendar, with years that begin in March so that leap days end them
  // (howardhinnant.github.io/date_algorithms.html).

  private static func days(year: Int, month: Int, day: Int) -> Int {
    let year = month <= 2 ? year - 1 : year
    let era = (year >= 0 ? year : year - 399) / 400
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  private static func civil(days: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    return (
      yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    )
  }
}
