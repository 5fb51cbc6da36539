/// A day of the Gregorian calendar, without a time zone.
public struct CalendarDay: Sendable, Hashable {
  /// From 1 to 9999.
  public let year: Int
  /// From 1 to 12.
  public let month: Int
  /// From 1 to the last day of the month.
  public let day: Int

  /// Creates a day; nil if it does not exist.
  public init?(year: Int, month: Int, day: Int) {
    guard (1...9999).contains(year), (1...12).contains(month), day >= 1,
      day <= Self.lastDay(ofMonth: month, year: year)
    else { return nil }
    (self.year, self.month, self.day) = (year, month, day)
  }

  /// The day a number of days after 1970-01-01, limited to the years 1 to 9999.
  ///
  /// The algorithm is `civil_from_days` from "chrono-Compatible Low-Level Date Algorithms" (H. Hinnant).
  /// Years start in March, so that the leap day comes last; 400 years have 146,097 days.
  public init(daysSince1970 count: Int) {
    let shifted = min(max(count, -719_162), 2_932_896) + 719_468
    let dayOfEra = shifted % 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    year = yearOfEra + shifted / 146_097 * 400 + (month <= 2 ? 1 : 0)
  }

  /// The number of days since 1970-01-01; negative before it.
  public var daysSince1970: Int {
    let shiftedYear = month <= 2 ? year - 1 : year
    let yearOfEra = shiftedYear % 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return shiftedYear / 400 * 146_097 + dayOfEra - 719_468
  }

  /// The day a number of days later; earlier if the number is negative.
  public func advanced(by days: Int) -> CalendarDay {
    CalendarDay(daysSince1970: daysSince1970 + min(max(days, -4_000_000), 4_000_000))
  }

  /// The number of days of a month.
  package static func lastDay(ofMonth month: Int, year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}

extension CalendarDay: Comparable {
  /// Earlier days come first.
  public static func < (left: CalendarDay, right: CalendarDay) -> Bool {
    (left.year, left.month, left.day) < (right.year, right.month, right.day)
  }
}

extension CalendarDay: LosslessStringConvertible {
  /// Parses `2026-11-21`; nil for anything else.
  public init?(_ description: String) {
    let digits = Array(description.utf8)
    guard digits.count == 10, digits[4] == UInt8(ascii: "-"), digits[7] == UInt8(ascii: "-"),
      let year = Self.number(digits[..<4]), let month = Self.number(digits[5..<7]),
      let day = Self.number(digits[8...])
    else { return nil }
    self.init(year: year, month: month, day: day)
  }

  private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
    digits.reduce(0) { number, digit in
      guard let number, (0x30...0x39).contains(digit) else { return nil }
      return number * 10 + Int(digit - 0x30)
    }
  }

  /// The day in ISO 8601, such as `2026-11-21`.
  public var description: String { "\(monthText)-\(Self.padded(day, 2))" }

  /// The month in ISO 8601, such as `2026-11`.
  public var monthText: String { "\(Self.padded(year, 4))-\(Self.padded(month, 2))" }

  static func padded(_ number: Int, _ width: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, width - text.count)) + text
  }
}
