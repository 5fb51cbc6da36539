/// The dates of HTTP, in seconds since 1970 (RFC 9110 §5.6.7).
package enum HTTPDate {
  fileprivate static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]
  /// Starts with Thursday, because 1970-01-01 was a Thursday.
  fileprivate static let days = [
    "Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday",
  ]

  /// Parses a date in the current form or in one of the two obsolete forms; nil for anything else.
  ///
  /// Ignores the case of letters and accepts Greenwich time only (RFC 9111 §4.2). Does not check the name of
  /// the day in the current form. Allocates nothing. The current time determines the century of two-digit years:
  /// no year is more than 50 years in the future.
  package static func seconds(_ text: String, now: Int) -> Int? {
    var text = text
    return text.withUTF8 { bytes in
      var scanner = DateScanner(rest: bytes[...])
      return scanner.seconds(now: now)
    }
  }

  /// Formats a date of the years 1 to 9999 in the current form, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
  package static func text(_ seconds: Int) -> String {
    let (number, clock) = Timestamp.parts(seconds)
    let day = CalendarDay(daysSince1970: number)
    let name = days[((number % 7) + 7) % 7].prefix(3)
    let date = "\(CalendarDay.padded(day.day, 2)) \(months[day.month - 1]) \(CalendarDay.padded(day.year, 4))"
    return "\(name), \(date) \(clock) GMT"
  }
}

/// Reads a date from its start to its end.
private struct DateScanner {
  var rest: Slice<UnsafeBufferPointer<UInt8>>

  mutating func seconds(now: Int) -> Int? {
    let name = rest.prefix { Self.isLetter($0) }
    rest = rest[name.endIndex...]
    let isShort = name.count == 3
    if skip(", ") {
      // `Sun, 06 Nov 1994 08:49:37 GMT` or `Sunday, 06-Nov-94 08:49:37 GMT`.
      let mark = isShort ? " " : "-"
      guard isShort || HTTPDate.days.contains(where: { Self.spell(name, $0) }),
        let day = number(2), skip(mark), let month = month(), skip(mark),
        let year = isShort ? number(4) : number(2).map({ Self.year($0, now: now) }),
        skip(" "), let time = time(), skip(" GMT"), rest.isEmpty
      else { return nil }
      return CalendarDay(year: year, month: month, day: day).map { $0.daysSince1970 * 86_400 + time }
    }
    // `Sun Nov  6 08:49:37 1994`.
    guard isShort, skip(" "), let month = month(), skip(" "), let day = skip(" ") ? number(1) : number(2),
      skip(" "), let time = time(), skip(" "), let year = number(4), rest.isEmpty
    else { return nil }
    return CalendarDay(year: year, month: month, day: day).map { $0.daysSince1970 * 86_400 + time }
  }

  /// A year whose last two digits are known, at most 50 years in the future.
  private static func year(_ short: Int, now: Int) -> Int {
    let thisYear = CalendarDay(daysSince1970: Timestamp.parts(now).days).year
    let year = thisYear - thisYear % 100 + short
    return year > thisYear + 50 ? year - 100 : year
  }

  private mutating func month() -> Int? {
    let name = rest.prefix(3)
    guard let index = HTTPDate.months.firstIndex(where: { Self.spell(name, $0) }) else { return nil }
    rest = rest.dropFirst(3)
    return index + 1
  }

  /// The seconds since midnight; a leap second is 60.
  private mutating func time() -> Int? {
    guard let hour = number(2), skip(":"), let minute = number(2), skip(":"), let second = number(2),
      hour < 24, minute < 60, second <= 60
    else { return nil }
    return hour * 3600 + minute * 60 + second
  }

  private mutating func number(_ count: Int) -> Int? {
    let digits = rest.prefix(count)
    guard digits.count == count, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    rest = rest.dropFirst(count)
    return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
  }

  private mutating func skip(_ text: String) -> Bool {
    let count = text.utf8.count
    guard Self.spell(rest.prefix(count), text) else { return false }
    rest = rest.dropFirst(count)
    return true
  }

  private static func spell(_ bytes: Slice<UnsafeBufferPointer<UInt8>>, _ text: String) -> Bool {
    bytes.elementsEqual(text.utf8) { $0 == $1 || isLetter($1) && $0 | 0x20 == $1 | 0x20 }
  }

  private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
}
