import FeedimgModel
import FeedimgSystem
import FeedimgTransfer
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// When those are woken who wait, again and again, for servers that failed them.
@Suite(.timeLimit(.minutes(10))) struct CircuitSubscriptionTests {
  private let time = ManualTime()
  private let desk: RetryController

  init() { desk = RetryController(time.time, schedule: RetrySchedule(greatestTries: 1)) }

  private func silence(of url: String, leadingTo origin: String? = nil) throws -> LoadError {
    var error = LoadError(.timeout, url: try ImageURL(url), message: "no answer came")
    error.origin = origin
    return error
  }

  @Test @PipelineActor func `who has asked again in vain lets the next one ask at once`() async throws {
    let (first, second) = (CircuitSubscription(desk) { .visible }, CircuitSubscription(desk) { .visible })
    let woken = Gathered<(name: String, at: Duration)>()
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
  @PipelineActor func `who has had its image was not woken in vain, wherever the image is`(
    _ origin: String?
  ) throws {
    let calls = CircuitSubscription(desk) { .visible }
    let woken = Gathered<Bool>()
    let error = try silence(of: "http://a.example/a", leadingTo: origin)
    for count in 1...3 {
      calls.wait(after: error) { woken.add(true) }
      desk.responded(origin ?? "http://a.example")
      #expect(woken.all.count == count, "it need not rest")
      calls.forget(try ImageURL("http://a.example/a"))
    }
    calls.close()
  }

  @Test @PipelineActor func `an image from another server says nothing of one that fails another image`()
    throws
  {
    let calls = CircuitSubscription(desk) { .visible }
    let woken = Gathered<Bool>()
    let error = try silence(of: "http://a.example/a", leadingTo: "http://b.example")
    for _ in 1...2 {
      calls.wait(after: error) { woken.add(true) }
      desk.responded("http://b.example")
      calls.forget(try ImageURL("http://a.example/other"))
    }
    #expect(woken.all.count == 1, "the second time it rests")
    calls.close()
  }
}
