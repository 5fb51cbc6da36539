/// A clock that never jumps, for waits and measurements; tests inject their own.
package struct MonotonicTime: Sendable {
  /// The time since a fixed moment.
  package let now: @Sendable () -> Duration
  /// Waits for a time; throws if the task is cancelled.
  package let sleep: @Sendable (Duration) async throws -> Void

  package init(
    now: @escaping @Sendable () -> Duration,
    sleep: @escaping @Sendable (Duration) async throws -> Void
  ) {
    self.now = now
    self.sleep = sleep
  }

  /// The system's clock, which stops while the machine sleeps.
  package static func system() -> MonotonicTime {
    let clock = SuspendingClock()
    let start = clock.now
    let alarms = AlarmThread()
    return MonotonicTime(now: { start.duration(to: clock.now) }, sleep: { try await alarms.sleep($0) })
  }
}

/// The thread `feedimg-alarm`, which wakes sleeping tasks; it runs only while a task sleeps.
///
/// `Task.sleep` would start a thread of the Swift runtime that wakes every second until the process ends.
package final class AlarmThread: Sendable {
  private struct State: Sendable {
    var sleepers: [Int: (due: Int, continuation: CheckedContinuation<Void, any Error>)] = [:]
    var lastID = 0
    var isRunning = false
  }

  private let lock = ConditionLock(State())

  package init() {}

  /// Waits for a time.
  ///
  /// - Throws: `CancellationError` if the task is cancelled or the thread cannot be started. Without a
  ///   thread, a caller that gives up does less harm than one that retries at once.
  package func sleep(_ duration: Duration) async throws {
    let id = lock.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    let due = ConditionLock<State>.now + Int(min(duration / .nanoseconds(1), 1e18))
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let sleeps = lock.withLock { state in
          // After a later cancellation, `onCancel` finds the continuation.
          guard !Task.isCancelled, startThread(&state) else { return false }
          state.sleepers[id] = (due, continuation)
          return true
        }
        if sleeps { lock.signal() } else { continuation.resume(throwing: CancellationError()) }
      }
    } onCancel: {
      let sleeper = lock.withLock { $0.sleepers.removeValue(forKey: id) }
      sleeper?.continuation.resume(throwing: CancellationError())
      lock.signal()
    }
  }

  private func startThread(_ state: inout State) -> Bool {
    state.isRunning = state.isRunning || SystemThread.start("feedimg-alarm") { self.run() }
    return state.isRunning
  }

  private func run() {
    while let due = lock.wait(Self.takeDue) {
      for continuation in due { continuation.resume() }
    }
  }

  /// The sleepers that are due; nil when no task sleeps, which ends the thread.
  private static func takeDue(
    _ state: inout State
  ) -> ConditionLock<State>.Step<[CheckedContinuation<Void, any Error>]?> {
    guard let first = state.sleepers.values.map(\.due).min() else {
      state.isRunning = false
      return .done(nil)
    }
    let now = ConditionLock<State>.now
    guard first <= now else { return .waitUntil(first) }
    let due = state.sleepers.filter { $0.value.due <= now }
    for id in due.keys { state.sleepers[id] = nil }
    return .done(due.values.map(\.continuation))
  }
}
