import FeedimgModel
import FeedimgSystem
import Synchronization

/// Counts the bytes of transfers by network.
package final class UsageMeter: Sendable {
  /// The longest time whose traffic is lost if the program is killed.
  static let interval = Duration.seconds(2)

  /// A network, as the ledger records it.
  private struct CountedNetwork: Hashable {
    var kind: NetworkKind
    var metered: Metered
  }

  private struct State {
    /// The network as it was last seen; nil if none has been seen.
    var network: CountedNetwork?
    /// The traffic that the ledger does not have yet.
    var traffic: [CountedNetwork: (bytes: Int, transfers: Int)] = [:]
    var isAlarmSet = false
  }

  private let ledger: any UsageKeeping
  private let network: any NetworkMonitoring
  private let time: MonotonicTime
  private let writes: ThreadExecutor
  /// Guards the network and the count; the ledger adds in memory under the lock, and writes outside.
  private let state = Mutex(State())
  /// Held while the ledger writes, so that a program that exits waits for traffic on its way there.
  private let writing = Mutex(())

  /// Makes a meter, which reads nothing before the first transfer.
  init(
    _ ledger: any UsageKeeping,
    network: any NetworkMonitoring,
    time: MonotonicTime,
    on writes: ThreadExecutor
  ) {
    (self.ledger, self.network, self.time, self.writes) = (ledger, network, time, writes)
  }

  /// Records the current network; bytes that arrive from here on are counted for it.
  func note(_ state: NetworkState) {
    // Bytes that still arrive when offline belong to the network before.
    guard state.kind != .offline else { return }
    self.state.withLock { $0.network = CountedNetwork(kind: state.kind, metered: state.metered) }
  }

  func begin(_ url: ImageURL) -> Tally {
    let tally = Tally(self)
    tally.setURL(url)
    return tally
  }

  /// Writes all traffic to the ledger, including earlier failed writes.
  package func endAll() {
    record()
    // Another thread may be writing the rest; wait for it.
    writing.withLock { _ in _ = ledger.flush() }
  }

  /// Adds traffic on the current network.
  private func count(bytes: Int, transfers: Int) {
    let isFirst = state.withLock { state in
      let network = state.network ?? CountedNetwork(kind: .other, metered: .unknown)
      state.traffic[network, default: (0, 0)].bytes += bytes
      state.traffic[network, default: (0, 0)].transfers += transfers
      guard bytes > 0 else { return false }
      defer { state.isAlarmSet = true }
      return !state.isAlarmSet
    }
    if isFirst { setAlarm() }
  }

  /// Moves the gathered traffic to the ledger's memory, where readers of this process find it.
  private func record() {
    state.withLock { state in
      for (network, sum) in state.traffic {
        ledger.add(
          ByteCount(sum.bytes),
          transfers: sum.transfers,
          network: network.kind,
          metered: network.metered
        )
      }
      state.traffic = [:]
    }
  }

  /// Writes on the thread for writes, once for all transfers that end meanwhile.
  private func endTransfer() {
    record()
    writes.afterwards { self.write() }
  }

  private func write() { writing.withLock { _ in ledger.write() } }

  /// Writes the gathered traffic after the interval, even if no more bytes arrive.
  ///
  /// The next received byte sets the next alarm. An alarm without traffic costs less than an alarm for each
  /// small image.
  private func setAlarm() {
    Task(executorPreference: writes) { [weak self, time] in
      // Without a thread, the sleep fails; then traffic is written only when transfers end.
      guard (try? await time.sleep(Self.interval)) != nil, let self else { return }
      state.withLock { $0.isAlarmSet = false }
      record()
      write()
    }
  }

  /// Counts one transfer, which counts from its request on, or from its first byte.
  final class Tally: Sendable {
    private let meter: UsageMeter
    /// Whether the bytes come from this machine itself and cost nothing.
    private let isLocal = Atomic(true)
    private let isCounted = Atomic(false)

    fileprivate init(_ meter: UsageMeter) { self.meter = meter }

    /// Records the present origin of the transfer.
    func setURL(_ url: ImageURL) {
      isLocal.store(url.isLoopback, ordering: .relaxed)
      if !url.isLoopback, meter.state.withLock({ $0.network == nil }) {
        meter.note(meter.network.currentState())
      }
    }

    func request() { count(0) }

    func add(_ bytes: Int) { if bytes > 0 { count(bytes) } }

    /// Ends the transfer; one that was refused before its request costs nothing.
    func end() { if isCounted.load(ordering: .relaxed) { meter.endTransfer() } }

    private func count(_ bytes: Int) {
      guard !isLocal.load(ordering: .relaxed) else { return }
      let isNew = !isCounted.exchange(true, ordering: .relaxed)
      if isNew || bytes > 0 { meter.count(bytes: bytes, transfers: isNew ? 1 : 0) }
    }
  }
}
