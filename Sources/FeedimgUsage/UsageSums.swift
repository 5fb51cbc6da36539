package import FeedimgModel

/// Sums of received bytes and ended transfers, one for each day, network and price.
extension [NetworkUsage] {
  /// Adds counts; a sum stops at the largest number.
  package mutating func add(_ others: [NetworkUsage]) {
    for usage in others {
      let place = firstIndex {
        ($0.day, $0.network, $0.metered) == (usage.day, usage.network, usage.metered)
      }
      guard let place else {
        append(usage)
        continue
      }
      let (bytes, isTooGreat) = self[place].received.bytes.addingReportingOverflow(usage.received.bytes)
      self[place].received = ByteCount(isTooGreat ? .max : bytes)
      let (transfers, isTooMany) = self[place].transfers.addingReportingOverflow(usage.transfers)
      self[place].transfers = isTooMany ? .max : transfers
    }
  }

  /// The sums in the order of days, networks and prices.
  package var inOrder: [NetworkUsage] { sorted { $0.order < $1.order } }
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
