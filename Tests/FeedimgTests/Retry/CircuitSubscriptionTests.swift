import FeedimgModel
import FeedimgSystem
import FeedimgTransfer
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// When loads that keep waiting for failing servers wake up.
@Suite(.timeLimit(.minutes(10))) struct CircuitSubscriptionTests {
  private let time = ManualTime()
  private let desk: RetryController

  init() { desk = RetryController(time.time, schedule: RetrySchedule(maximumTries: 1)) }

  private func silence(of url: String, leadingTo origin: String? = nil) throws -> LoadError {
    var error = LoadError(.timeout, url: try ImageURL(url), message: "no response came")
    error.retry.origin = origin
    return error
  }

  @Test @PipelineActor func `after a failed retry the next subscriber retries at once`() async throws {
    let (first, second) = (CircuitSubscription(desk) { .visible }, CircuitSubscription(desk) { .visible })
    let woken = RecordedValues<(name: String, at: Duration)>()
    let error = try silence(of: "http://a.example/a")
    first.wait(after: error) { woken.add(("first", time.time.now())) }
    second.wait(after: error) { woken.add(("second", time.time.now())) }
    await time.pass(.seconds(5), when: 1)
    while woken.all.isEmpty { await Task.yield() }
    first.wait(after: error) {}
    while woken.all.count < 2 {
      time.passToNext()
      await Task.yield()
    }
    #expect(woken.all.map(\.name) == ["first", "second"])
    #expect(woken.all.map(\.at) == [.seconds(5), .seconds(5)])
    first.close()
    second.close()
  }

  @Test(arguments: [nil, "http://b.example"])
  @PipelineActor func `a load that succeeded had no failed wake-up, even after a redirect`(
    _ origin: String?
  ) throws {
    let calls = CircuitSubscription(desk) { .visible }
    let woken = RecordedValues<Bool>()
    let error = try silence(of: "http://a.example/a", leadingTo: origin)
    for count in 1...3 {
      calls.wait(after: error) { woken.add(true) }
      desk.responded(origin ?? "http://a.example")
      #expect(woken.all.count == count, "it need not wait")
      calls.forget(try ImageURL("http://a.example/a"))
    }
    calls.close()
  }

  @Test @PipelineActor func `an image from another server says nothing about the server of a failed one`()
    throws
  {
    let calls = CircuitSubscription(desk) { .visible }
    let woken = RecordedValues<Bool>()
    let error = try silence(of: "http://a.example/a", leadingTo: "http://b.example")
    for _ in 1...2 {
      calls.wait(after: error) { woken.add(true) }
      desk.responded("http://b.example")
      calls.forget(try ImageURL("http://a.example/other"))
    }
    #expect(woken.all.count == 1, "it waits the second time")
    calls.close()
  }
}
