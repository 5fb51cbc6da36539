import FeedimgModel
import Synchronization

/// Counts what transfers bring, by the network that brings it.
final class UsageMeter: Sendable {
  private let ledger: any UsageKeeping
  private let network: any NetworkReading
  /// What the network was when anybody looked last.
  private let carrier = Mutex<Carrier?>(nil)

  /// Nothing is looked at before the first transfer.
  init(_ ledger: any UsageKeeping, network: any NetworkReading) {
    self.ledger = ledger
    self.network = network
  }

  /// Takes note of what the network is now; from here on it brings the bytes.
  func note(_ state: NetworkState) {
    // Offline brings nothing; what still comes, comes over what there was.
    guard state.kind != .offline else { return }
    carrier.withLock { $0 = Carrier(state) }
  }

  /// Begins to count a transfer; nil for one from this machine itself, which costs nobody anything.
  func begin(_ url: ImageURL) -> Tally? {
    guard !url.isLoopback else { return nil }
    if carrier.withLock({ $0 == nil }) { note(network.currentState()) }
    return Tally(self)
  }

  /// The present carrier; of unknown kind where nobody has seen any.
  fileprivate var current: Carrier {
    carrier.withLock { $0 }
      ?? Carrier(NetworkState(kind: .other, metered: .unknown, reason: "", meteredReason: ""))
  }

  fileprivate func write(_ entry: TrafficCount.Entry, transfers: Int) {
    ledger.add(
      ByteCount(entry.bytes),
      transfers: transfers,
      network: entry.carrier.network,
      metered: entry.carrier.metered
    )
  }

  /// One transfer that is counted.
  final class Tally: Sendable {
    private let meter: UsageMeter
    private let clock = ContinuousClock()
    /// Guards the count; it is written down outside.
    private let count: Mutex<TrafficCount>

    fileprivate init(_ meter: UsageMeter) {
      self.meter = meter
      count = Mutex(TrafficCount(over: meter.current, at: clock.now))
    }

    func add(_ bytes: Int) {
      let (carrier, now) = (meter.current, clock.now)
      if let due = count.withLock({ $0.add(bytes, over: carrier, at: now) }) {
        meter.write(due, transfers: 0)
      }
    }

    /// Ends the transfer, which counts as one however it ended.
    func end() { meter.write(count.withLock { $0.end() }, transfers: 1) }
  }
}
