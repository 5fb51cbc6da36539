/// What came over one kind of network on one day.
public struct NetworkUsage: Sendable, Hashable {
  /// The user's own calendar day.
  public var day: CalendarDay
  /// What carried the data.
  public var network: NetworkKind
  /// Whether the data cost.
  public var metered: Metered
  /// Heads and bodies, as they came; without what TLS and TCP add.
  public var received: ByteCount
  /// Transfers that ended, in success or not.
  public var transfers: Int

  /// Makes a count; a negative one becomes zero.
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

/// Counts what the network has brought (a port).
package protocol UsageKeeping: Sendable {
  /// Today, where the user is.
  func today() -> CalendarDay

  /// Adds to what was received today; it is on disk when this returns, or in memory where the disk does not take it.
  ///
  /// Waits for no other process longer than ten milliseconds.
  func add(_ received: ByteCount, transfers: Int, network: NetworkKind, metered: Metered)

  /// Tries once more to write what could not be written, with more patience, before the program ends.
  ///
  /// Waits for no other process longer than a quarter of a second; returns at once where all is written.
  ///
  /// - Returns: Whether all is on disk then.
  @discardableResult func flush() -> Bool

  /// What was received on these days, by day and network; also what other processes have counted.
  ///
  /// - Returns: In the order of days, networks and prices; without what cannot be read, see ``gap(on:)``.
  func usage(on days: ClosedRange<CalendarDay>) -> [NetworkUsage]

  /// Why it is not known what was received on these days, in words; nil where it is, or was when it was last read.
  ///
  /// That is told among the warnings as well.
  func gap(on days: ClosedRange<CalendarDay>) -> String?

  /// What the user should know, such as that nothing can be written; each thing once, a line each.
  func takeWarnings() -> [String]
}
