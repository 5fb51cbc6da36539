package import FeedimgModel

/// Sums of received bytes and ended transfers, one for each day, network and metering.
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
      self[place].received = ByteCount(self[place].received.bytes.addingClamped(usage.received.bytes))
      self[place].transfers = self[place].transfers.addingClamped(usage.transfers)
    }
  }

  /// The sums in the order of days, networks and meterings.
  package var inOrder: [NetworkUsage] { sorted { $0.order < $1.order } }
}

extension NetworkUsage {
  fileprivate var order: (CalendarDay, Int, Int) {
    (
      day, NetworkKind.allCases.firstIndex(of: network) ?? 0, Metered.allCases.firstIndex(of: metered) ?? 0
    )
  }
}
