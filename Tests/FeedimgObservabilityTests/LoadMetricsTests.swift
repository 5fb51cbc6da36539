import Feedimg
import MetricsTestKit
import Synchronization
import Testing

@testable import FeedimgObservability

/// The counters and timers of loads.
@Suite struct LoadMetricsTests {
  private let factory = TestMetrics()
  private let start = ContinuousClock.now

  private func event(_ load: Int, _ milliseconds: Int, _ step: LoadEvent.Step) throws -> LoadEvent {
    let url = try ImageURL("https://pictures.example/a.jpg")
    let item = FeedItem(original: ImageVariant(role: .original, url: url), thumbnail: nil)
    return LoadEvent(load: load, item: item, time: start + .milliseconds(milliseconds), step: step)
  }

  private func decided() throws -> LoadEvent.Step {
    .decided(try ResolutionSample.resolution())
  }

  @Test func `loads are counted and timed by their results`() throws {
    let metrics = LoadMetrics(factory: factory)
    metrics.observe(try event(1, 0, try decided()))
    metrics.observe(try event(2, 10, try decided()))
    metrics.observe(try event(1, 20, .queued))
    metrics.observe(try event(2, 25, .joined))
    metrics.observe(try event(1, 50, .started))
    for received in [1000, 2500] {
      metrics.observe(
        try event(1, 60, .progress(LoadProgress(received: ByteCount(received), total: nil)))
      )
    }
    metrics.observe(try event(1, 70, try decided()))
    metrics.observe(try event(1, 100, .finished(.network)))
    metrics.observe(try event(2, 110, .cancelled))
    let network = [("outcome", "network")]
    #expect(try factory.expectCounter("feedimg_loads_total", network).totalValue == 1)
    #expect(try factory.expectCounter("feedimg_loads_total", [("outcome", "cancelled")]).totalValue == 1)
    #expect(try factory.expectCounter("feedimg_joins_total").totalValue == 1)
    #expect(try factory.expectCounter("feedimg_received_bytes_total").totalValue == 2500)
    #expect(
      try factory.expectTimer("feedimg_load_duration_seconds", network).values == [100_000_000]
    )
    #expect(try factory.expectTimer("feedimg_wait_duration_seconds").values == [30_000_000])
  }

  @Test func `bytes that another transfer received do not count again`() throws {
    let metrics = LoadMetrics(factory: factory)
    metrics.observe(try event(1, 0, try decided()))
    // The events of a load that resumes stored bytes, is interrupted, and resumes again.
    let steps: [LoadEvent.Step] = [
      .resumed(ByteCount(1000)), .progress(LoadProgress(received: ByteCount(1400), total: nil)),
      .resumed(ByteCount(1400)), .progress(LoadProgress(received: ByteCount(2000), total: nil)),
    ]
    for step in steps { metrics.observe(try event(1, 10, step)) }
    #expect(try factory.expectCounter("feedimg_received_bytes_total").totalValue == 1000)
  }

  private func progress(_ received: Int) -> LoadEvent.Step {
    .progress(LoadProgress(received: ByteCount(received), total: nil))
  }

  @Test func `bytes after a restart count again, however many arrive at once`() throws {
    let metrics = LoadMetrics(factory: factory)
    let steps: [LoadEvent.Step] = [
      try decided(), .requested, progress(10_000), .requested, progress(65_536), progress(70_000),
    ]
    for step in steps { metrics.observe(try event(1, 10, step)) }
    #expect(try factory.expectCounter("feedimg_received_bytes_total").totalValue == 80_000)
  }

  @Test func `bytes of a second transfer by the service count again`() throws {
    let metrics = LoadMetrics(factory: factory)
    for step in [try decided(), progress(500), progress(300), progress(1000)] {
      metrics.observe(try event(1, 10, step))
    }
    #expect(try factory.expectCounter("feedimg_received_bytes_total").totalValue == 1500)
  }

  static let ends: [LoadEvent.Step] = [
    .cancelled, .finished(.disk), .failed(LoadError(.timeout, message: "no response")),
  ]

  @Test(arguments: ends)
  func `bytes of a transfer that outlives its load count once`(_ end: LoadEvent.Step) throws {
    let metrics = LoadMetrics(factory: factory)
    for step in [try decided(), progress(500), end, progress(1000), progress(2000)] {
      metrics.observe(try event(1, 10, step))
    }
    #expect(try factory.expectCounter("feedimg_received_bytes_total").totalValue == 2000)
    #expect(metrics.recordCount == 1)
    metrics.observe(try event(1, 20, .verified(mediaType: "image/jpeg")))
    #expect(metrics.recordCount == 0)
  }

  static let results: [LoadEvent.Step] = [
    .revalidated(isNew: true), .notRevalidated(LoadError(.timeout, message: "no response")),
  ]

  @Test(arguments: results)
  func `a revalidation counts as a load of its own`(_ result: LoadEvent.Step) throws {
    let metrics = LoadMetrics(factory: factory)
    let steps = [try decided(), .finished(.disk), .queued, progress(1000), progress(3000), result]
    for step in steps { metrics.observe(try event(1, 10, step)) }
    #expect(try factory.expectCounter("feedimg_received_bytes_total").totalValue == 3000)
    #expect(metrics.recordCount == 0)
  }

  @Test func `cancelled loads are forgotten one by one, and running loads are not`() throws {
    let metrics = LoadMetrics(factory: factory)
    let decided = try decided()
    for step in [decided, progress(1000)] { metrics.observe(try event(0, 0, step)) }
    for load in 1...5000 {
      for step in [decided, progress(10), .cancelled] { metrics.observe(try event(load, 1, step)) }
    }
    #expect(metrics.recordCount < 1000)
    metrics.observe(try event(0, 2, progress(1500)))
    #expect(try factory.expectCounter("feedimg_received_bytes_total").totalValue == 1500 + 50_000)
  }
}

extension LoadMetrics {
  /// The number of loads with state.
  fileprivate var recordCount: Int {
    state.withLock { Set($0.loads.keys).union($0.received.keys).count }
  }
}
