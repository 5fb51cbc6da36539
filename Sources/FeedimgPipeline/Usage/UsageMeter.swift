import FeedimgModel
import FeedimgSystem
import Synchronization

/// Counts what transfers bring, by the network that brings it.
package final class UsageMeter: Sendable {
  private let ledger: any UsageKeeping
  private let network: any NetworkReading
  private let time: MonotonicTime
  private let disk: ThreadExecutor?
  /// What the network was when anybody looked last.
  private let carrier = Mutex<Carrier?>(nil)
  /// Guards the count; it is written down outside.
  private let count = Mutex(TrafficCount())
  /// Held from the count to the ledger, so that who ends the program finds nothing on its way there.
  private let writing = Mutex(())

  /// Nothing is looked at before the first transfer.
  ///
  /// - Parameters:
  ///   - ledger: Where it is written down.
  ///   - network: Looked at where nobody has told of it.
  ///   - time: For the alarm, of which there is one at most, and none while nothing comes.
  ///   - disk: Where that writes; nil for wherever tasks run.
  init(
    _ ledger: any UsageKeeping,
    network: any NetworkReading,
    time: MonotonicTime,
    on disk: ThreadExecutor? = nil
  ) {
    (self.ledger, self.network, self.time, self.disk) = (ledger, network, time, disk)
  }

  /// Takes note of what the network is now; from here on it brings the bytes.
  func note(_ state: NetworkState) {
    // Offline brings nothing; what still comes, comes over what there was.
    guard state.kind != .offline else { return }
    carrier.withLock { $0 = Carrier(state) }
  }

  /// Begins to count a transfer.
  func begin(_ url: ImageURL) -> Tally {
    let tally = Tally(meter: self, number: count.withLock { $0.begin() })
    tally.goOn(at: url)
    return tally
  }

  /// Counts all transfers as ended, and writes down what they have brought, and what the disk did not take before.
  package func endAll() {
    write { $0.endAll() }
    // Who writes meanwhile may have taken along what was left, and is waited for.
    writing.withLock { _ in _ = ledger.flush() }
  }

  /// The present carrier; of unknown kind where nobody has seen any.
  private var current: Carrier {
    carrier.withLock { $0 }
      ?? Carrier(NetworkState(kind: .other, metered: .unknown, reason: "", meteredReason: ""))
  }

  private func write(_ take: (inout TrafficCount) -> [TrafficCount.Entry]) {
    writing.withLock { _ in
      for entry in count.withLock({ take(&$0) }) {
        ledger.add(
          ByteCount(entry.bytes),
          transfers: entry.transfers,
          network: entry.carrier.network,
          metered: entry.carrier.metered
        )
      }
    }
  }

  /// Has what gathers written down after the interval, also if nothing more comes.
  private func setAlarm() {
    Task(executorPreference: disk) { [weak self, time] in
      // For want of a thread nobody waits; then the transfers write at their end alone.
      guard (try? await time.sleep(TrafficCount.interval)) != nil, let self else { return }
      self.write { $0.alarm() }
    }
  }

  /// One transfer that is counted.
  struct Tally: Sendable {
    fileprivate let meter: UsageMeter
    fileprivate let number: Int

    /// Takes note of where it comes from now; what comes from this machine itself costs nobody anything.
    func goOn(at url: ImageURL) {
      let isLocal = url.isLoopback
      if !isLocal, meter.carrier.withLock({ $0 == nil }) { meter.note(meter.network.currentState()) }
      let carrier = isLocal ? nil : meter.current
      meter.count.withLock { $0.goOn(number, over: carrier) }
    }

    /// Takes note that a request goes out.
    func request() { meter.count.withLock { $0.request(number) } }

    func add(_ bytes: Int) {
      let carrier = meter.current
      if meter.count.withLock({ $0.add(bytes, to: number, over: carrier) }) { meter.setAlarm() }
    }

    /// Ends the transfer, which counts as one however it ended, if it got as far as a request.
    func end() { meter.write { $0.end(number) } }
  }
}
