import FeedimgModel

/// Sums of received bytes and ended transfers, by day, network and price (pure).
struct UsageSums: Sendable, Hashable {
  private struct Slot: Hashable {
    var day: CalendarDay
    var network: NetworkKind
    var metered: Metered
  }

  private struct Amount: Hashable {
    var bytes = 0
    var transfers = 0
  }

  private var sums: [Slot: Amount] = [:]

  var isEmpty: Bool { sums.isEmpty }

  /// Adds one count; a sum stops at the largest number.
  mutating func add(_ usage: NetworkUsage) {
    let slot = Slot(day: usage.day, network: usage.network, metered: usage.metered)
    let old = sums[slot] ?? Amount()
    sums[slot] = Amount(
      bytes: Self.sum(old.bytes, usage.received.bytes),
      transfers: Self.sum(old.transfers, usage.transfers)
    )
  }

  mutating func add(_ usage: [NetworkUsage]) {
    for usage in usage { add(usage) }
  }

  private static func sum(_ left: Int, _ right: Int) -> Int {
    let (sum, isTooGreat) = left.addingReportingOverflow(right)
    return isTooGreat ? .max : sum
  }

  /// The sums of days within a range, in the order of days, networks and prices.
  func usage(on days: ClosedRange<CalendarDay>? = nil) -> [NetworkUsage] {
    sums.lazy.filter { days?.contains($0.key.day) ?? true }.map { slot, amount in
      NetworkUsage(
        day: slot.day,
        network: slot.network,
        metered: slot.metered,
        received: ByteCount(amount.bytes),
        transfers: amount.transfers
      )
    }
    .sorted { $0.order < $1.order }
  }
}

extension NetworkUsage {
  fileprivate var order: (CalendarDay, Int, Int) {
    (
      day, NetworkKind.allCases.firstIndex(of: network) ?? 0, Metered.allCases.firstIndex(of: metered) ?? 0
    )
  }
}

extension Metered {
  /// The word of the ledger, such as `unmetered`.
  var price: String {
    switch self {
    case .yes: "metered"
    case .no: "unmetered"
    case .unknown: "unknown"
    }
  }

  /// Reads the word of the ledger; nil for any other word.
  init?(price: String) {
    guard let metered = Self.allCases.first(where: { $0.price == price }) else { return nil }
    self = metered
  }
}
