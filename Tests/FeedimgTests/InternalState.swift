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
