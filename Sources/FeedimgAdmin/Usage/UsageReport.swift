public import Feedimg
import FeedimgJSON
public import FeedimgModel
import FeedimgUsage

/// The data received on some days.
public struct UsageReport: Sendable, Hashable {
  /// The days of the report; the last is today or, after a change of the time zone, may be tomorrow.
  public var days: ClosedRange<CalendarDay>
  /// The sums by day, network and metering, in that order; days without data are omitted.
  public var usage: [NetworkUsage]
  /// The monthly budget; nil if the user has set none.
  public var budget: CellularBudget?
  /// The number of unreadable entries in the ledger, which are not counted.
  public var unreadableCount = 0
  /// The folder of the ledgers.
  public var folder: String
  /// The data of the first month before the first day of the report.
  var earlier: [NetworkUsage] = []

  /// The sum of the report.
  public var total: Sum { Sum(usage) }

  /// The sums of each month, by network and metering, in that order; each entry has the first day of its
  /// month.
  ///
  /// The first month is complete even if the report starts later in it, so that users can compare it with a
  /// bill.
  public var months: [NetworkUsage] {
    let dated = (earlier + usage).map { usage in
      var month = usage
      month.day = usage.day.advanced(by: 1 - usage.day.day)
      return month
    }
    var months: [NetworkUsage] = []
    months.add(dated)
    return months.inOrder
  }

  /// Bytes and transfers together.
  public struct Sum: Sendable, Hashable {
    /// The received bytes of heads and bodies.
    public var received: ByteCount
    /// The number of ended transfers, including failed ones.
    public var transfers: Int

    /// Adds up counts.
    public init(_ usage: some Sequence<NetworkUsage>) {
      // Clamped, because any program can write any number to the ledger.
      received = ByteCount(usage.reduce(0) { $0.addingClamped($1.received.bytes) })
      transfers = usage.reduce(0) { $0.addingClamped($1.transfers) }
    }
  }
}

extension UsageReport {
  /// The report as one line of JSON.
  public var json: String {
    let value: JSONValue = [
      "from": .string(days.lowerBound.description), "to": .string(days.upperBound.description),
      "days": .array(usage.map { Self.entry($0, "day", $0.day.description) }),
      "months": .array(months.map { Self.entry($0, "month", $0.day.monthText) }),
      "total": ["bytes": .integer(total.received.bytes), "transfers": .integer(total.transfers)],
      "budget": budget.map(Self.entry) ?? .null, "foreignLines": .integer(unreadableCount),
      "folder": .string(folder),
    ]
    return value.text(.compact)
  }

  private static func entry(_ usage: NetworkUsage, _ name: String, _ value: String) -> JSONValue {
    [
      name: .string(value), "network": .string(usage.network.rawValue),
      "metered": .string(usage.metered.rawValue), "bytes": .integer(usage.received.bytes),
      "transfers": .integer(usage.transfers),
    ]
  }

  private static func entry(_ budget: CellularBudget) -> JSONValue {
    [
      "limit": .integer(budget.limit.bytes), "used": .integer(budget.used.bytes),
      "left": .integer(budget.left.bytes), "from": .string(budget.days.lowerBound.description),
      "to": .string(budget.days.upperBound.description),
    ]
  }
}
