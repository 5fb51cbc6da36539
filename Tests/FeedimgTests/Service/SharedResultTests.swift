import Testing

@testable import Feedimg
@testable import FeedimgPipeline

@Suite(.timeLimit(.minutes(10))) struct SharedResultTests {
  @Test func `all callers get one shared result in their order of arrival`() async throws {
    let (test, gate) = (try TestLoader(), RecordedValues<Bool>())
    let asked = RecordedValues<Bool>()
    let response = SharedResponse {
      asked.add(true)
      while gate.all.isEmpty { await Task.yield() }
      return true
    }
    let order = RecordedValues<Int>()
    // One thread for all of them, so that only the wake-ups determine the order.
    let waiting = (0..<20).map { index in
      Task(executorPreference: test.loader.disk) { if await response.value { order.add(index) } }
    }
    while asked.all.isEmpty { await Task.yield() }
    // This runs after all of them on their thread, so they wait by now.
    await Task(executorPreference: test.loader.disk) {}.value
    gate.add(true)
    for wait in waiting { await wait.value }
    #expect(order.all == Array(0..<20))
    #expect(await response.value)
    #expect(asked.all.count == 1)
  }
}
