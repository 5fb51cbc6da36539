import FeedimgModel

/// What carries a transfer, as the ledger tells it.
struct Carrier: Sendable, Hashable {
  var network: NetworkKind
  var metered: Metered

  init(_ state: NetworkState) { (network, metered) = (state.kind, state.metered) }
}

/// The bytes of one transfer, and when they are to be written down (pure).
struct TrafficCount: Sendable {
  /// Bytes that one carrier has brought.
  struct Entry: Sendable, Hashable {
    var carrier: Carrier
    var bytes: Int
  }

  /// So much counting is lost at most where the program is killed.
  static let interval = Duration.seconds(2)

  private var carrier: Carrier
  private var bytes = 0
  private var wroteAt: ContinuousClock.Instant

  init(over carrier: Carrier, at now: ContinuousClock.Instant) {
    self.carrier = carrier
    wroteAt = now
  }

  /// Counts what has just come.
  ///
  /// - Returns: What is to be written down now: what another carrier brought before, or what has gathered.
  mutating func add(_ count: Int, over carrier: Carrier, at now: ContinuousClock.Instant) -> Entry? {
    if carrier != self.carrier {
      let due = end()
      (self.carrier, bytes, wroteAt) = (carrier, count, now)
      return due.bytes > 0 ? due : nil
    }
    bytes += count
    guard bytes > 0, now - wroteAt >= Self.interval else { return nil }
    wroteAt = now
    defer { bytes = 0 }
    return end()
  }

  /// What is left to be written down.
  func end() -> Entry { Entry(carrier: carrier, bytes: bytes) }
}
