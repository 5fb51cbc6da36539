import Testing

@testable import Feedimg

@Suite(.timeLimit(.minutes(10))) struct SharedResponseTests {
  @Test func `all hear the answer in the order in which they came, and it is asked for once`() async throws {
    let (test, gate) = (try TestLoader(), Gathered<Bool>())
    let asked = Gathered<Bool>()
    let answer = SharedResponse {
      asked.add(true)
      while gate.all.isEmpty { await Task.yield() }
      return true
    }
    let order = Gathered<Int>()
    // One thread for all of them, so that only what wakes them says who is first.
    let waiting = (0..<20).map { index in
      Task(executorPreference: test.loader.disk) { if await answer.value { order.add(index) } }
    }
    while asked.all.isEmpty { await Task.yield() }
    // Behind all of them on their thread: they wait by now.
    await Task(executorPreference: test.loader.disk) {}.value
    gate.add(true)
    for wait in waiting { await wait.value }
    #expect(order.all == Array(0..<20))
    #expect(await answer.value)
    #expect(asked.all.count == 1)
  }
}
