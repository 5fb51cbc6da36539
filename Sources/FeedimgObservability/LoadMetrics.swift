public import Feedimg
public import Metrics
import Synchronization

/// Counts and times loads with swift-metrics.
///
/// The label `outcome` is `memory`, `disk`, `network`, `failed`, `placeholder` or `cancelled`.
///
/// - `feedimg_loads_total`: ended loads, by `outcome`
/// - `feedimg_load_duration_seconds`: time from the decision to the end, by `outcome`
/// - `feedimg_wait_duration_seconds`: time in the queue before a transfer
/// - `feedimg_retries_total`: retries
/// - `feedimg_joins_total`: loads that joined a running load
/// - `feedimg_received_bytes_total`: received bytes of images
public final class LoadMetrics: LoadObserving {
  struct Load {
    var beganAt: ContinuousClock.Instant
    var queuedAt: ContinuousClock.Instant?
  }

  struct State {
    /// The running loads.
    var loads: [Int: Load] = [:]
    /// The bytes received for each load.
    ///
    /// The count stays after the end of the load: its transfer may continue for other loads, or a
    /// revalidation may begin.
    var received: [Int: Int] = [:]
  }

  /// The approximate number of ended loads that keep their count of received bytes.
  ///
  /// A limit is needed because no event reports the end of an incomplete transfer. Fewer transfers than this
  /// run at the same time.
  private static let maximumRecords = 512

  /// The state of the loads; metrics are recorded outside the lock.
  let state = Mutex(State())
  private let factory: any MetricsFactory

  /// - Parameter factory: The factory of the metrics; by default the program's.
  public init(factory: any MetricsFactory = MetricsSystem.factory) { self.factory = factory }

  /// Records one step.
  public func observe(_ event: LoadEvent) {
    let load = event.load
    switch event.step {
    case .retried: counter("feedimg_retries_total").increment()
    case .joined: counter("feedimg_joins_total").increment()
    case .decided:
      // A load that is decided again after a change of facts began earlier.
      state.withLock { if $0.loads[load] == nil { $0.loads[load] = Load(beganAt: event.time) } }
    case .queued: state.withLock { $0.loads[load]?.queuedAt = event.time }
    case .started:
      let queuedAt = state.withLock { state in
        defer { state.loads[load]?.queuedAt = nil }
        return state.loads[load]?.queuedAt
      }
      guard let queuedAt else { return }
      Timer(label: "feedimg_wait_duration_seconds", factory: factory).record(duration: event.time - queuedAt)
    case .resumed(let kept): state.withLock { $0.received[load] = kept.bytes }
    case .progress(let progress):
      let received = progress.received.bytes
      let before = state.withLock { $0.received.updateValue(received, forKey: load) } ?? 0
      // The service reports no requests. Its next transfer for the load also counts from zero.
      counter("feedimg_received_bytes_total").increment(by: received - (received < before ? 0 : before))
    // The response to a request counts from zero, unless `resumed` follows.
    case .requested, .verified, .revalidated, .notRevalidated: state.withLock { $0.received[load] = nil }
    case .finished(let source): end(event, source.rawValue)
    case .failed(let error): end(event, error.code == .nothingToShow ? "placeholder" : "failed")
    case .cancelled: end(event, "cancelled")
    default: break
    }
  }

  private func counter(_ label: String) -> Counter { Counter(label: label, factory: factory) }

  private func end(_ event: LoadEvent, _ outcome: String) {
    let beganAt = state.withLock { state in
      defer { Self.forgetOldest(&state) }
      return state.loads.removeValue(forKey: event.load)?.beganAt ?? event.time
    }
    let dimensions = [("outcome", outcome)]
    Counter(label: "feedimg_loads_total", dimensions: dimensions, factory: factory).increment()
    Timer(label: "feedimg_load_duration_seconds", dimensions: dimensions, factory: factory)
      .record(duration: event.time - beganAt)
  }

  /// Removes the older half of the ended loads once they exceed the limit.
  private static func forgetOldest(_ state: inout State) {
    let ended = state.received.count - state.loads.count
    guard ended > maximumRecords else { return }
    let loads = state.received.keys.filter { state.loads[$0] == nil }.sorted()
    for load in loads.prefix(loads.count / 2) { state.received[load] = nil }
  }
}
