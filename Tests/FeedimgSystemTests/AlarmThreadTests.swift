import Testing

@testable import FeedimgSystem

/// How tasks sleep.
@Suite(.timeLimit(.minutes(10))) struct AlarmThreadTests {
  private let alarms = AlarmThread()

  @Test func `all who sleep are woken, whoever came first`() async throws {
    let sleeps = [3, 1, 2, 0].map { time in
      Task { [alarms] in try await alarms.sleep(.milliseconds(time)) }
    }
    for sleep in sleeps { try await sleep.value }
    // The thread has ended by then, or is about to.
    try await alarms.sleep(.milliseconds(1))
  }

  @Test func `who is cancelled sleeps no longer, however long it wanted to`() async {
    let sleep = Task { [alarms] in try await alarms.sleep(.seconds(1e12)) }
    sleep.cancel()
    await #expect(throws: CancellationError.self) { try await sleep.value }
  }
}
