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
    var received = 0
  }

  /// What follows from a step.
  private enum Record {
    case ended(String, Duration)
    case waited(Duration)
    case received(Int)
  }

  /// Guards what is known of the loads that run; metrics are recorded outside.
  private let loads = Mutex<[Int: Load]>([:])
  private let factory: any MetricsFactory

  /// - Parameter factory: What makes the metrics; that of the program unless another is given.
  public init(factory: any MetricsFactory = MetricsSystem.factory) { self.factory = factory }

  /// Takes one step into account.
  public func observe(_ event: LoadEvent) {
    switch event.step {
    case .retried: Counter(label: "feedimg_retries_total", factory: factory).increment()
    case .joined: Counter(label: "feedimg_joins_total", factory: factory).increment()
    default: break
    }
    guard let record = loads.withLock({ Self.record(event, &$0) }) else { return }
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

  private static func record(_ event: LoadEvent, _ loads: inout [Int: Load]) -> Record? {
    switch event.step {
    case .decided:
      // Decided again where the facts have changed: the load began before.
      if loads[event.load] == nil { loads[event.load] = Load(beganAt: event.time) }
    case .queued: loads[event.load]?.queuedAt = event.time
    case .started:
      guard let queuedAt = loads[event.load]?.queuedAt else { return nil }
      loads[event.load]?.queuedAt = nil
      return .waited(event.time - queuedAt)
    case .resumed(let kept): loads[event.load]?.received = kept.bytes
    case .progress(let progress):
      // A transfer that begins anew counts anew.
      let before = loads[event.load]?.received ?? 0
      let count = progress.received.bytes - (progress.received.bytes < before ? 0 : before)
      loads[event.load]?.received = progress.received.bytes
      return .received(count)
    case .finished(let source): return end(event, source.rawValue, &loads)
    case .failed(let error):
      return end(event, error.code == .nothingToShow ? "placeholder" : "failed", &loads)
    case .cancelled: return end(event, "cancelled", &loads)
    default: break
    }
    return nil
  }

  private static func end(_ event: LoadEvent, _ outcome: String, _ loads: inout [Int: Load]) -> Record {
    let began = loads.removeValue(forKey: event.load)?.beganAt ?? event.time
    return .ended(outcome, event.time - began)
  }

  private static func nanoseconds(_ duration: Duration) -> Int64 {
    let (seconds, attoseconds) = duration.components
    let (product, isTooGreat) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    return isTooGreat ? .max : product + attoseconds / 1_000_000_000
  }
}
