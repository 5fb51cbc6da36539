public import Feedimg
public import Metrics
import Synchronization

/// Counts and times loads with swift-metrics.
///
/// - `feedimg_loads_total`, by `outcome` (memory, disk, network, failed, placeholder or cancelled)
/// - `feedimg_load_duration_seconds`, by `outcome`: from the decision to the image
/// - `feedimg_wait_duration_seconds`: from the wish for a transfer to its place among the others
/// - `feedimg_retries_total`, `feedimg_joins_total`
/// - `feedimg_received_bytes_total`: bytes of images, as they arrived
public final class LoadMetrics: LoadObserving {
  private struct Load {
    var beganAt: ContinuousClock.Instant
    var queuedAt: ContinuousClock.Instant?
  }

  private struct State {
    /// Those that run.
    var loads: [Int: Load] = [:]
    /// How much has come of what a load transfers; also after its end, as the transfer may go on for others, or a
    /// revalidation begin.
    var received: [Int: Int] = [:]
  }

  /// What follows from a step.
  private enum Record {
    case ended(String, Duration)
    case waited(Duration)
    case received(Int)
  }

  /// Of so many loads that have ended, at most about, it is remembered how much their transfers brought: more do not
  /// transfer at a time, but nobody tells that a transfer has ended which brought nothing whole.
  private static let greatestRecords = 512

  /// Guards what is known of the loads; metrics are recorded outside.
  private let state = Mutex(State())
  private let factory: any MetricsFactory

  /// - Parameter factory: What makes the metrics; that of the program unless another is given.
  public init(factory: any MetricsFactory = MetricsSystem.factory) { self.factory = factory }

  /// How many loads it remembers.
  var recordCount: Int { state.withLock { Set($0.loads.keys).union($0.received.keys).count } }

  /// Takes one step into account.
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
      // Decided again where the facts have changed: the load began before.
      if state.loads[load] == nil { state.loads[load] = Load(beganAt: event.time) }
    case .queued: state.loads[load]?.queuedAt = event.time
    case .started:
      guard let queuedAt = state.loads[load]?.queuedAt else { return nil }
      state.loads[load]?.queuedAt = nil
      return .waited(event.time - queuedAt)
    case .resumed(let kept): state.received[load] = kept.bytes
    case .progress(let progress):
      // A transfer that begins anew counts anew.
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

  /// Forgets half of those that have ended, the oldest, where they have become too many.
  private static func forgetOldest(_ state: inout State) {
    let ended = state.received.count - state.loads.count
    guard ended > greatestRecords else { return }
    let loads = state.received.keys.filter { state.loads[$0] == nil }.sorted()
    for load in loads.prefix(loads.count / 2) { state.received[load] = nil }
  }

  private static func nanoseconds(_ duration: Duration) -> Int64 {
    let (seconds, attoseconds) = duration.components
    let (product, isTooGreat) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    return isTooGreat ? .max : product + attoseconds / 1_000_000_000
  }
}
