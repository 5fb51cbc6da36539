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
  private struct Load {
    var beganAt: ContinuousClock.Instant
    var queuedAt: ContinuousClock.Instant?
  }

  private struct State {
    /// The running loads.
    var loads: [Int: Load] = [:]
    /// The bytes received for each load.
    ///
    /// The count stays after the end of the load: its transfer may continue for other loads, or a
    /// revalidation may begin.
    var received: [Int: Int] = [:]
  }

  /// The metric to record after a step.
  private enum Record {
    case ended(String, Duration)
    case waited(Duration)
    case received(Int)
  }

  /// The approximate number of ended loads that keep their count of received bytes.
  ///
  /// A limit is needed because no event reports the end of an incomplete transfer. Fewer transfers than this
  /// run at the same time.
  private static let maximumRecords = 512

  /// The state of the loads; metrics are recorded outside the lock.
  private let state = Mutex(State())
  private let factory: any MetricsFactory

  /// - Parameter factory: The factory of the metrics; by default the program's.
  public init(factory: any MetricsFactory = MetricsSystem.factory) { self.factory = factory }

  /// The number of loads with state.
  var recordCount: Int { state.withLock { Set($0.loads.keys).union($0.received.keys).count } }

  /// Records one step.
  public func observe(_ event: LoadEvent) {
    switch event.step {
    case .retried: Counter(label: "feedimg_retries_total", factory: factory).increment()
    case .joined: Counter(label: "feedimg_joins_total", factory: factory).increment()
    default: break
    }
    guard let record = state.withLock({ Self.record(event, &$0) }) else { return }
    switch record {
    case .ended(let outcome, let duration):
      let dimensions = [("outcome", outcome)]
      Counter(label: "feedimg_loads_total", dimensions: dimensions, factory: factory).increment()
      Timer(label: "feedimg_load_duration_seconds", dimensions: dimensions, factory: factory)
        .recordNanoseconds(Self.nanoseconds(duration))
    case .waited(let duration):
      Timer(label: "feedimg_wait_duration_seconds", factory: factory)
        .recordNanoseconds(Self.nanoseconds(duration))
    case .received(let count):
      Counter(label: "feedimg_received_bytes_total", factory: factory).increment(by: count)
    }
  }

  private static func record(_ event: LoadEvent, _ state: inout State) -> Record? {
    let load = event.load
    switch event.step {
    case .decided:
      // A load that is decided again after a change of facts began earlier.
      if state.loads[load] == nil { state.loads[load] = Load(beganAt: event.time) }
    case .queued: state.loads[load]?.queuedAt = event.time
    case .started:
      guard let queuedAt = state.loads[load]?.queuedAt else { return nil }
      state.loads[load]?.queuedAt = nil
      return .waited(event.time - queuedAt)
    case .resumed(let kept): state.received[load] = kept.bytes
    case .progress(let progress):
      // A restarted transfer counts from zero.
      let before = state.received[load] ?? 0
      let count = progress.received.bytes - (progress.received.bytes < before ? 0 : before)
      state.received[load] = progress.received.bytes
      return .received(count)
    case .verified, .revalidated, .notRevalidated: state.received[load] = nil
    case .finished(let source): return end(event, source.rawValue, &state)
    case .failed(let error):
      return end(event, error.code == .nothingToShow ? "placeholder" : "failed", &state)
    case .cancelled: return end(event, "cancelled", &state)
    default: break
    }
    return nil
  }

  private static func end(_ event: LoadEvent, _ outcome: String, _ state: inout State) -> Record {
    let began = state.loads.removeValue(forKey: event.load)?.beganAt ?? event.time
    forgetOldest(&state)
    return .ended(outcome, event.time - began)
  }

  /// Removes the older half of the ended loads once they exceed the limit.
  private static func forgetOldest(_ state: inout State) {
    let ended = state.received.count - state.loads.count
    guard ended > maximumRecords else { return }
    let loads = state.received.keys.filter { state.loads[$0] == nil }.sorted()
    for load in loads.prefix(loads.count / 2) { state.received[load] = nil }
  }

  private static func nanoseconds(_ duration: Duration) -> Int64 {
    let (seconds, attoseconds) = duration.components
    let (product, isTooGreat) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    return isTooGreat ? .max : product + attoseconds / 1_000_000_000
  }
}
