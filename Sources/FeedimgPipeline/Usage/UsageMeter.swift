import FeedimgModel
import FeedimgSystem
import Synchronization

/// Counts the bytes of transfers by network.
package final class UsageMeter: Sendable {
  private let ledger: any UsageKeeping
  private let network: any NetworkReading
  private let time: MonotonicTime
  private let disk: ThreadExecutor?
  /// Guards the network and the count; the ledger adds in memory under the lock, and writes outside.
  private let state = Mutex(State())
  /// Held while the ledger writes, so that a program that exits waits for traffic on its way there.
  private let writing = Mutex(())

  private struct State {
    /// The network as it was last seen; nil if none has been seen.
    var carrier: TransferNetwork?
    var counter = TrafficCounter()

    /// The current network; of unknown kind if none has been seen.
    var currentCarrier: TransferNetwork {
      carrier
        ?? TransferNetwork(NetworkState(kind: .other, metered: .unknown, reason: "", meteredReason: ""))
    }
  }

  /// Makes a meter, which reads nothing before the first transfer.
  ///
  /// - Parameters:
  ///   - ledger: The ledger to write.
  ///   - network: Read if no network has been noted.
  ///   - time: The clock of the alarm. At most one alarm is set, and none without traffic.
  ///   - disk: The thread that writes the ledger; nil for the threads of tasks.
  init(
    _ ledger: any UsageKeeping,
    network: any NetworkReading,
    time: MonotonicTime,
    on disk: ThreadExecutor? = nil
  ) {
    (self.ledger, self.network, self.time, self.disk) = (ledger, network, time, disk)
  }

  /// Records the current network; bytes that arrive from here on are counted for it.
  func note(_ state: NetworkState) {
    // Bytes that still arrive when offline belong to the network before.
    guard state.kind != .offline else { return }
    self.state.withLock { $0.carrier = TransferNetwork(state) }
  }

  func begin(_ url: ImageURL) -> Tally {
    let tally = Tally(meter: self, number: state.withLock { $0.counter.begin() })
    tally.goOn(at: url)
    return tally
  }

  /// Counts all transfers as ended, and writes all traffic to the ledger, including earlier failed writes.
  package func endAll() {
    write { $0.endAll() }
    // Another thread may be writing the rest; wait for it.
    writing.withLock { _ in _ = ledger.flush() }
  }

  private func write(_ take: (inout TrafficCounter) -> [TrafficCounter.Entry]) {
    _ = count(take)
    writing.withLock { _ in ledger.write() }
  }

  /// Moves the gathered traffic to the ledger's memory, where readers of this process find it.
  ///
  /// - Returns: Whether there was any.
  private func count(_ take: (inout TrafficCounter) -> [TrafficCounter.Entry]) -> Bool {
    state.withLock { state in
      let entries = take(&state.counter)
      for entry in entries {
        ledger.add(
          ByteCount(entry.bytes),
          transfers: entry.transfers,
          network: entry.carrier.network,
          metered: entry.carrier.metered
        )
      }
      return !entries.isEmpty
    }
  }

  /// Ends a transfer, and writes on the disk's thread, once for all transfers that end meanwhile.
  private func end(_ number: Int) {
    guard count({ $0.end(number) }) else { return }
    guard let disk else { return writing.withLock { _ in ledger.write() } }
    disk.afterwards { self.writing.withLock { _ in self.ledger.write() } }
  }

  /// Writes the gathered traffic after the interval, even if no more bytes arrive.
  private func setAlarm() {
    Task(executorPreference: disk) { [weak self, time] in
      // Without a thread, the sleep fails; then traffic is written only when transfers end.
      guard (try? await time.sleep(TrafficCounter.interval)) != nil, let self else { return }
      self.write { $0.alarm() }
    }
  }

  struct Tally: Sendable {
    fileprivate let meter: UsageMeter
    fileprivate let number: Int

    /// Records the present origin of the transfer; bytes from this machine itself cost nothing.
    func goOn(at url: ImageURL) {
      let isLocal = url.isLoopback
      if !isLocal, meter.state.withLock({ $0.carrier == nil }) { meter.note(meter.network.currentState()) }
      meter.state.withLock { $0.counter.goOn(number, over: isLocal ? nil : $0.currentCarrier) }
    }

    func request() { meter.state.withLock { $0.counter.request(number) } }

    func add(_ bytes: Int) {
      let isFirst = meter.state.withLock { $0.counter.add(bytes, to: number, over: $0.currentCarrier) }
      if isFirst { meter.setAlarm() }
    }

    /// Ends the transfer, which counts as one, regardless of its outcome, if it sent a request.
    func end() { meter.end(number) }
  }
}
