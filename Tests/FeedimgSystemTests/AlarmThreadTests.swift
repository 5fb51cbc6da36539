import Testing

@testable import FeedimgSystem

/// Tasks that sleep.
@Suite(.timeLimit(.minutes(10))) struct AlarmThreadTests {
  private let alarms = AlarmThread()

  @Test func `all sleeping tasks are woken, in any order of arrival`() async throws {
    let sleeps = [3, 1, 2, 0].map { time in
      Task { [alarms] in try await alarms.sleep(.milliseconds(time)) }
    }
    for sleep in sleeps { try await sleep.value }
    // The thread has ended by then, or is about to.
    try await alarms.sleep(.milliseconds(1))
  }

  @Test func `a cancelled task stops sleeping at once`() async {
    let sleep = Task { [alarms] in try await alarms.sleep(.seconds(1e12)) }
    sleep.cancel()
    await #expect(throws: CancellationError.self) { try await sleep.value }
  }
}
