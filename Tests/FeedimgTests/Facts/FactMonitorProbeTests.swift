import FeedimgModel
import FeedimgTransfer
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// When a dead network is probed.
@Suite(.timeLimit(.minutes(10))) @PipelineActor struct FactMonitorProbeTests {
  private let time = ManualTime()
  private let test: TestLoader

  nonisolated init() throws { test = try TestLoader(time: time.time) }

  private var watch: FactMonitor { test.loader.resources.factMonitor }

  /// Makes the network appear dead.
  private func killNetwork() async throws {
    watch.watch()
    for number in 0..<4 {
      let url = try ImageURL("http://host\(number).example/a.jpg")
      let silence = LoadError(.timeout, url: url, message: "no response came")
      await #expect(throws: LoadError.self) {
        try await test.loader.resources.transport.retries.perform(url) { _ async throws(LoadError) -> Int in
          throw silence
        }
      }
    }
    #expect(test.loader.resources.transport.retries.liveness.isOffline)
  }

  @Test func `a dead network is probed from the first listener to the last`() async throws {
    try await killNetwork()
    #expect(!watch.awaitsProbe, "there is no listener")
    let told = RecordedValues<Int>()
    let first = watch.listen(priority: { .visible }, { told.add(1) })
    #expect(watch.awaitsProbe)
    let second = watch.listen(priority: { .visible }, {})
    watch.leave(first)
    #expect(watch.awaitsProbe)
    watch.leave(second)
    #expect(!watch.awaitsProbe)
    while time.sleepers > 0 { await Task.yield() }
    #expect(told.all.isEmpty)
  }

  @Test func `listeners on a dead network learn when to probe`() async throws {
    try await killNetwork()
    let told = RecordedValues<Int>()
    let number = watch.listen(priority: { .visible }, { told.add(1) })
    await time.pass(.seconds(5), when: 1)
    while told.all.isEmpty { await Task.yield() }
    watch.leave(number)
  }

  @Test func `no probe follows if the last listener leaves when it learns of one`() async throws {
    try await killNetwork()
    let (numbers, told) = (RecordedValues<Int>(), RecordedValues<Int>())
    let onChange: @PipelineActor @Sendable () -> Void = { [watch] in
      for number in numbers.all { watch.leave(number) }
      told.add(1)
    }
    numbers.add(watch.listen(priority: { .visible }, onChange))
    await time.pass(.seconds(5), when: 1)
    while told.all.isEmpty { await Task.yield() }
    #expect(!watch.awaitsProbe)
    #expect(time.sleepers == 0)
  }

  @Test func `an idle loader is also suspended on a dead network`() async throws {
    try await killNetwork()
    watch.rest()
    #expect(watch.generation == nil)
  }
}
