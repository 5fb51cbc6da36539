/// Reads the dates of HTTP in their three formats (RFC 9110 §5.6.7).
package enum HTTPDate {
  private static let months = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
  ]

  /// Reads a date in Greenwich time; the name of the day is not checked.
  ///
  /// - Parameters:
  ///   - text: Such as `Sun, 06 Nov 1994 08:49:37 GMT`.
  ///   - now: Seconds since 1970, to place years of two digits.
  /// - Returns: Seconds since 1970, or nil where the text is no such date.
  package static func seconds(_ text: String, now: Int) -> Int? {
    let isSeparator: (Character) -> Bool = { " ,-:".contains($0) }
    let words = text.split(whereSeparator: isSeparator).map { $0.lowercased() }
    if words.count == 8, words[7] == "gmt" || words[7] == "utc" {
      guard let year = year(words[3], now: now) else { return nil }
      return seconds(year, words[2], words[1], words[4...6])
    }
    // As asctime() of C writes it.
    guard words.count == 7, words[6].utf8.count == 4, let year = number(words[6]) else { return nil }
    return seconds(year, words[1], words[2], words[3...5])
  }

  private static func seconds(
    _ year: Int,
    _ monthName: String,
    _ dayText: String,
    _ time: ArraySlice<String>
  ) -> Int? {
    guard let month = months.firstIndex(of: monthName).map({ $0 + 1 }), let day = number(dayText),
      (1...length(of: month, in: year)).contains(day)
    else { return nil }
    let parts = time.compactMap { number($0) }
    guard parts.count == 3, parts[0] < 24, parts[1] < 60, parts[2] <= 60 else { return nil }
    return days(year, month, day) * 86_400 + parts[0] * 3600 + parts[1] * 60 + parts[2]
  }

  /// A year of two digits that would lie over 50 years ahead is the one that lies behind.
  private static func year(_ text: String, now: Int) -> Int? {
    guard let number = number(text) else { return nil }
    guard text.utf8.count == 2 else { return text.utf8.count == 4 ? number : nil }
    // Exact enough: within 50 years of now nothing depends on the day.
    let thisYear = 1970 + now / 31_556_952
    let year = thisYear / 100 * 100 + number
    return year > thisYear + 50 ? year - 100 : year
  }

  private static func length(of month: Int, in year: Int) -> Int {
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    return month == 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
  }

  /// Days since 1970 in the Gregorian calendar, counted in years that begin in March so that leap days come last.
  private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let year = month > 2 ? year : year - 1
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    return year * 365 + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
  }

  private static func number(_ text: String) -> Int? {
    guard text.utf8.count <= 4, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int(text)
  }
}
