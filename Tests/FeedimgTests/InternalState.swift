import FeedimgModel
import FeedimgSystem
import Synchronization

@testable import FeedimgPipeline

// State that no user sees: what loads leave behind, and which callers wait.

extension Coalescer {
  /// Whether no load runs and no caller waits.
  var isIdle: Bool {
    state.withLock { $0.entries.isEmpty && $0.ending.isEmpty }
  }

  /// Waits until the cancelled loads have ended.
  func drain() async {
    for task in state.withLock({ $0.ending.values.map(\.task) }) { await task.value }
  }
}

extension Coalescer {
  /// The number of callers that wait.
  var count: Int { state.withLock { $0.entries.values.reduce(0) { $0 + $1.callers.count } } }
}

extension SchedulerState {
  /// Whether no download runs or waits.
  var isEmpty: Bool { running.isEmpty && others.isEmpty }
}

extension DownloadScheduler {
  /// Whether no download runs or waits.
  var isIdle: Bool { state.isEmpty && waiting.isEmpty && downloads.isEmpty }

  var limits: TransferLimits { state.limits }
}

extension LinkMeter {
  /// The estimate in bits per second, in steps; nil before the first sample.
  var reported: Int? { measurement?.bitsPerSecond }

  mutating func receive(_ count: Int, at now: Duration) -> Bool { receive(count, at: now, date: 0) }

  mutating func enter(network: NetworkKind, at now: Duration) { enter(network: .of(network), at: now) }
}

extension DownloadScheduler {
  func enter(network: NetworkKind) { enter(network: .of(network)) }
}

extension NetworkState {
  fileprivate static func of(_ kind: NetworkKind) -> NetworkState {
    NetworkState(kind: kind, metered: .no, reason: "", meteredReason: "")
  }
}

extension FactMonitor {
  var listenerCount: Int { listeners.count }

  /// Whether a probe of a dead network is due later.
  var awaitsProbe: Bool { probe.task != nil }
}

extension RetryController {
  /// The number of remembered URLs and origins.
  var recordCount: Int { negatives.withLock(\.records.count) + breaker.circuits.count }

  var subscriberCount: Int { subscriptions.count }

  /// The time at which the next subscriber wakes without a response; nil if none will.
  var nextWake: Duration? { alarm?.due }
}

extension CircuitSubscriptions {
  var count: Int { waiting.values.reduce(0) { $0 + $1.count } }
}

extension Revalidator {
  /// The number of running requests.
  var requestCount: Int { background.count }
}

extension DecodingQueue {
  /// The number of images that wait for a decoder.
  var waiting: Int { places.count }

  /// The number of callers that wait for pixels.
  var wanted: Int { coalescer.count }
}
