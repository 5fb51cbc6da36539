import FeedimgModel
import FeedimgSystem
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Callers that share, leave and follow one another's loads.
@Suite(.timeLimit(.minutes(10))) struct CoalescerTests {
  private let coalescer = Coalescer<Int>()
  private let loads = RecordedValues<InFlightLoad>()

  /// Waits for a load of a key, which ends with its number when the gate opens.
  private func caller(
    _ key: String = "a",
    _ caller: Coalescer<Int>.Caller = Coalescer.Caller(LoadHandle(.near)),
    until end: Event
  ) -> Task<Coalescer<Int>.Outcome, Never> {
    PipelineActor.task { [coalescer, loads] in
      await coalescer.outcome(for: key, caller) { load in
        loads.add(load)
        let number = loads.all.count
        // A cancelled load takes a while to end.
        _ = await PipelineActor.task { await end.wait() }.value
        return .success(number)
      }
    }
  }

  private func number(_ outcome: Coalescer<Int>.Outcome) -> Int? {
    if case .finished(let number, _) = outcome { number } else { nil }
  }

  @Test func `a load ends early only when its last caller leaves, and the next load waits for its end`()
    async
  {
    let (first, second) = (Event(), Event())
    let leaving = [caller(until: first), caller(until: first)]
    while coalescer.count(of: "a") < 2 || loads.all.isEmpty { await Task.yield() }
    leaving[0].cancel()
    _ = await leaving[0].value
    #expect(coalescer.count(of: "a") == 1 && loads.all.allSatisfy { !$0.isAbandoned })
    leaving[1].cancel()
    _ = await leaving[1].value
    let next = caller(until: second)
    while coalescer.count(of: "a") < 1 { await Task.yield() }
    #expect(loads.all.count == 1 && loads.all[0].isAbandoned)
    first.signal()
    second.signal()
    #expect(number(await next.value) == 2, "it gets no result of the load before")
    while !coalescer.isIdle { await Task.yield() }
  }

  @Test func `a caller that was released before it joined starts nothing`() async {
    let early = Coalescer<Int>.Caller(LoadHandle(.near))
    coalescer.release(early, of: "a")
    guard case .released = await caller("a", early, until: Event()).value else {
      Issue.record("it was not released")
      return
    }
    #expect(loads.all.isEmpty && coalescer.isIdle)
  }

  @Test func `different keys do not wait for each other`() async {
    let (first, second) = (Event(), Event())
    let (one, other) = (caller("a", until: first), caller("b", until: second))
    second.signal()
    #expect(number(await other.value) != nil)
    first.signal()
    #expect(number(await one.value) != nil)
  }

  @Test func `a load has the highest priority of its callers, and it falls when they leave`() async {
    let (end, handle) = (Event(), LoadHandle(.near))
    let first = caller(until: end)
    let second = caller("a", Coalescer.Caller(handle), until: end)
    while coalescer.count < 2 || loads.all.isEmpty { await Task.yield() }
    #expect(loads.all[0].priority == .near)
    handle.priority = .visible
    #expect(loads.all[0].priority == .visible)
    second.cancel()
    _ = await second.value
    #expect(loads.all[0].priority == .near)
    end.signal()
    #expect(number(await first.value) == 1)
  }
}
