/// The dates of HTTP, in seconds since 1970 (RFC 9110 §5.6.7).
package enum HTTPDate {
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]
  /// The month names as numbers, for fast comparison.
  private static let monthLetters = months.map { letters($0.utf8) }
  /// Starts with Thursday, because 1970-01-01 was a Thursday.
  private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
  private static let longDays = [
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
  ]

  /// Parses a date in the current form or in one of the two obsolete forms; nil for anything else.
  ///
  /// Ignores the case of letters and accepts Greenwich time only (RFC 9111 §4.2). Does not check the name of
  /// the day.
  ///
  /// - Parameters:
  ///   - text: Such as `Sun, 06 Nov 1994 08:49:37 GMT`.
  ///   - now: Determines the century of two-digit years: no year is more than 50 years in the future.
  /// - Returns: Seconds since 1970.
  package static func seconds(_ text: String, now: Int) -> Int? {
    var text = text
    if let seconds = text.withUTF8(secondsOfToday) { return seconds }
    let lower = text.lowercased()
    let words = lower.split(separator: " ", omittingEmptySubsequences: false)
    if hasForm(lower, "xxx, 00 xxx 0000 00:00:00 gmt") {
      return seconds(number(words[3], digits: 4...4), words[2], words[1], words[4])
    }
    if let comma = lower.firstIndex(of: ","), longDays.contains(String(lower[..<comma])),
      hasForm(lower[comma...], ", 00-xxx-00 00:00:00 gmt")
    {
      let day = words[1].split(separator: "-")
      return seconds(year(day[2], now: now), day[1], day[0], words[2])
    }
    if hasForm(lower, "xxx xxx 00 00:00:00 0000") {
      return seconds(number(words[4], digits: 4...4), words[1], words[2], words[3])
    }
    if hasForm(lower, "xxx xxx  0 00:00:00 0000") {
      return seconds(number(words[5], digits: 4...4), words[1], words[3], words[4])
    }
    return nil
  }

  /// Whether a text has a form, in which `x` is a letter, `0` is a digit, and any other character is itself.
  private static func hasForm(_ text: some StringProtocol, _ form: StaticString) -> Bool {
    guard text.utf8.count == form.utf8CodeUnitCount else { return false }
    return text.utf8.enumerated().allSatisfy { index, byte in
      switch form.utf8Start[index] {
      case UInt8(ascii: "x"): (0x61...0x7A).contains(byte)
      case UInt8(ascii: "0"): (0x30...0x39).contains(byte)
      case let expected: byte == expected
      }
    }
  }

  /// Parses the current form without allocating; nil for text that needs the general parser.
  private static func secondsOfToday(_ text: UnsafeBufferPointer<UInt8>) -> Int? {
    func number(_ range: Range<Int>) -> Int? {
      var number = 0
      for byte in text[range] {
        guard (0x30...0x39).contains(byte) else { return nil }
        number = number * 10 + Int(byte - 0x30)
      }
      return number
    }
    func isSpelt(_ name: StaticString, at start: Int) -> Bool {
      (0..<name.utf8CodeUnitCount).allSatisfy { text[start + $0] == name.utf8Start[$0] }
    }
    // Sun, 06 Nov 1994 08:49:37 GMT
    guard text.count == 29, text[..<3].allSatisfy({ (0x61...0x7A).contains($0 | 0x20) }),
      isSpelt(", ", at: 3), isSpelt(" ", at: 7), isSpelt(" ", at: 11), isSpelt(" ", at: 16),
      isSpelt(":", at: 19), isSpelt(":", at: 22), isSpelt(" GMT", at: 25),
      let month = monthLetters.firstIndex(of: letters(text[8..<11])),
      let dayOfMonth = number(5..<7), let year = number(12..<16),
      let hour = number(17..<19), let minute = number(20..<22), let second = number(23..<25),
      hour < 24, minute < 60, second <= 60,
      let day = CalendarDay(year: year, month: month + 1, day: dayOfMonth)
    else { return nil }
    return day.daysSince1970 * 86_400 + hour * 3600 + minute * 60 + second
  }

  private static func letters(_ name: some Sequence<UInt8>) -> UInt32 {
    name.reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// Formats a date of the years 1 to 9999 in the current form, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
  package static func text(_ seconds: Int) -> String {
    let (number, time) = parts(seconds)
    let day = CalendarDay(daysSince1970: number)
    let clock = [time / 3600, time / 60 % 60, time % 60].map(padded).joined(separator: ":")
    let year = String(repeating: "0", count: 4 - String(day.year).count) + String(day.year)
    let name = days[((number % 7) + 7) % 7]
    return "\(name), \(padded(day.day)) \(months[day.month - 1]) \(year) \(clock) GMT"
  }

  /// The days since 1970 and the seconds since the start of the last day.
  private static func parts(_ seconds: Int) -> (day: Int, rest: Int) {
    let (day, rest) = seconds.quotientAndRemainder(dividingBy: 86_400)
    return rest < 0 ? (day - 1, rest + 86_400) : (day, rest)
  }

  private static func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

  private static func seconds(
    _ year: Int?,
    _ monthName: Substring,
    _ dayText: Substring,
    _ timeText: Substring
  ) -> Int? {
    let time = timeText.split(separator: ":", omittingEmptySubsequences: false).map {
      number($0, digits: 2...2) ?? .max
    }
    // A leap second is 60.
    guard time.count == 3, time[0] < 24, time[1] < 60, time[2] <= 60,
      let year, let month = months.firstIndex(where: { $0.lowercased() == monthName }),
      let dayOfMonth = number(dayText, digits: 1...2),
      let day = CalendarDay(year: year, month: month + 1, day: dayOfMonth)
    else { return nil }
    return day.daysSince1970 * 86_400 + time[0] * 3600 + time[1] * 60 + time[2]
  }

  private static func year(_ text: Substring, now: Int) -> Int? {
    guard text.utf8.count == 2 else { return number(text, digits: 4...4) }
    guard let short = number(text, digits: 2...2) else { return nil }
    let thisYear = CalendarDay(daysSince1970: parts(now).day).year
    let year = thisYear - thisYear % 100 + short
    return year > thisYear + 50 ? year - 100 : year
  }

  private static func number(_ text: Substring, digits: ClosedRange<Int>) -> Int? {
    guard digits.contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      return nil
    }
    return Int(text)
  }
}
