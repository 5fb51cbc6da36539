/// The data received over one kind of network on one day.
public struct NetworkUsage: Sendable, Hashable {
  /// The day in the user's time zone.
  public var day: CalendarDay
  /// The network that carried the data.
  public var network: NetworkKind
  /// Whether the user paid for the data.
  public var metered: Metered
  /// Heads and bodies as they arrived, without TLS and TCP overhead.
  public var received: ByteCount
  /// The number of finished transfers, both successful and failed.
  public var transfers: Int

  /// Creates a count; negative numbers become zero.
  public init(
    day: CalendarDay,
    network: NetworkKind,
    metered: Metered,
    received: ByteCount,
    transfers: Int
  ) {
    self.day = day
    self.network = network
    self.metered = metered
    self.received = received
    self.transfers = max(0, transfers)
  }
}

/// Counts the data received over the network (a port).
package protocol UsageKeeping: Sendable {
  /// Today in the user's time zone.
  func today() -> CalendarDay

  /// Adds to the count of today, in memory; touches no file.
  func add(_ received: ByteCount, transfers: Int, network: NetworkKind, metered: Metered)

  /// Writes the counts in memory; if the disk fails, they stay there.
  ///
  /// Waits at most ten milliseconds for other processes.
  func write()

  /// Writes the counts that are still in memory, before the program ends.
  ///
  /// Waits at most a quarter of a second for other processes. Returns at once if all counts are on disk.
  ///
  /// - Returns: Whether all counts are on disk.
  @discardableResult func flush() -> Bool

  /// The data received on some days, from all processes.
  ///
  /// - Returns: The usage in the order of day, network and metering. `gap` says why the usage is incomplete, in
  ///   words; nil if it is complete. The first gap is also among the warnings.
  func usage(on days: ClosedRange<CalendarDay>) -> (usage: [NetworkUsage], gap: String?)

  /// New messages for the user, such as that nothing can be written; each once, one line each.
  func takeWarnings() -> [String]
}

/// The month of a data budget, which starts on the day on which the user's contract renews.
public struct BudgetPeriod: Sendable, Hashable {
  /// From the first day to the last, both included.
  public let days: ClosedRange<CalendarDay>

  /// The period that contains a day.
  ///
  /// - Parameters:
  ///   - today: A day of the period.
  ///   - firstDay: The day of the month on which periods start, from 1 to 31. In shorter months, the period
  ///     starts on the last day.
  public init(containing today: CalendarDay, firstDay: Int) {
    let start = Self.start(inMonthOf: today, firstDay)
    if start <= today {
      days = start...Self.start(inMonthOf: Self.firstOfNextMonth(today), firstDay).advanced(by: -1)
    } else {
      let lastMonth = today.advanced(by: -today.day)
      days = Self.start(inMonthOf: lastMonth, firstDay)...start.advanced(by: -1)
    }
  }

  private static func start(inMonthOf day: CalendarDay, _ firstDay: Int) -> CalendarDay {
    let last = CalendarDay.lastDay(ofMonth: day.month, year: day.year)
    return day.advanced(by: min(max(firstDay, 1), last) - day.day)
  }

  private static func firstOfNextMonth(_ day: CalendarDay) -> CalendarDay {
    day.advanced(by: CalendarDay.lastDay(ofMonth: day.month, year: day.year) - day.day + 1)
  }
}
