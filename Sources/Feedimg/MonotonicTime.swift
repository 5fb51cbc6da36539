/// Time that never jumps, for waits and measurements; tests bring their own.
struct MonotonicTime: Sendable {
  /// Since a moment that stays the same.
  let now: @Sendable () -> Duration
  /// Returns after so long, or throws when the task is cancelled.
  let sleep: @Sendable (Duration) async throws -> Void

  init(now: @escaping @Sendable () -> Duration, sleep: @escaping @Sendable (Duration) async throws -> Void) {
    self.now = now
    self.sleep = sleep
  }

  /// The system's, which stands still while the machine sleeps.
  static func system() -> MonotonicTime {
    let clock = SuspendingClock()
    let start = clock.now
    let alarms = AlarmThread()
    return MonotonicTime(now: { start.duration(to: clock.now) }, sleep: { try await alarms.sleep($0) })
  }
}
