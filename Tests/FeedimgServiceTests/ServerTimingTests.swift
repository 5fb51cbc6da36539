import Feedimg
import TestSystem
import Testing

@testable import FeedimgService

/// The time of each stage of a request.
@Suite struct ServerTimingTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var why: String
    var isReload = false
    /// The events, and their times in milliseconds.
    var steps: [(Int, LoadEvent.Step)]
    var isStreaming = false
    var text: String
    var testDescription: String { why }
  }

  private static let item = FeedItem(original: nil, thumbnail: nil)

  private static let rows = [
    Row(
      why: "from the network",
      steps: [
        (3, .missed), (4, .queued), (10, .started), (20, .requested), (40, .responded(status: 200)),
        (50, .progress(LoadProgress(received: ByteCount(0), total: nil))),
        (60, .verified(mediaType: "image/png")),
        (65, .stored(path: "/a")), (66, .finished(.network)),
      ],
      text:
        "decide;dur=3.0, queue;dur=7.0, connect;dur=10.0, wait;dur=20.0, receive;dur=20.0, store;dur=5.0, "
        + "total;dur=100.0"
    ),
    Row(
      why: "the total is unknown while bytes arrive",
      steps: [(1, .missed), (2, .queued), (3, .started), (4, .requested), (90, .responded(status: 200))],
      isStreaming: true,
      text: "decide;dur=1.0, queue;dur=2.0, connect;dur=1.0, wait;dur=86.0, total;dur=100.0"
    ),
    Row(
      why: "joined another client's load",
      steps: [(2, .joined)],
      isStreaming: true,
      text: "decide;dur=2.0, join;dur=98.0, total;dur=100.0"
    ),
    Row(
      why: "from disk, with a background revalidation",
      steps: [(1, .found(.disk)), (2, .queued), (3, .started), (4, .requested), (9, .finished(.disk))],
      text: "decide;dur=1.0, total;dur=100.0"
    ),
    Row(
      why: "revalidated first",
      isReload: true,
      steps: [
        (1, .found(.memory)), (2, .queued), (4, .started), (7, .requested), (11, .responded(status: 304)),
        (16, .revalidated(isNew: false)), (20, .finished(.memory)),
      ],
      text: "decide;dur=1.0, queue;dur=2.0, connect;dur=3.0, wait;dur=4.0, receive;dur=5.0, total;dur=100.0"
    ),
    Row(
      why: "two attempts, which add up",
      steps: [
        (1, .missed), (2, .queued), (3, .started), (4, .requested), (6, .responded(status: 503)),
        (7, .retried(LoadError(.status, message: ""), after: .milliseconds(3))), (10, .queued),
        (11, .started),
        (13, .requested), (14, .responded(status: 200)), (15, .verified(mediaType: "image/png")),
        (16, .notStored("")), (17, .finished(.network)),
      ],
      text: "decide;dur=1.0, queue;dur=6.0, connect;dur=3.0, wait;dur=3.0, receive;dur=2.0, store;dur=1.0, "
        + "total;dur=100.0"
    ),
  ]

  @Test(arguments: rows) func `each stage has its time`(_ row: Row) {
    let start = ContinuousClock.now
    let record = LoadRecord(isReload: row.isReload, at: start)
    for (time, step) in row.steps {
      record.observe(
        LoadEvent(load: 1, item: Self.item, time: start + .milliseconds(time), step: step)
      )
    }
    let text = record.steps.serverTiming(at: start + .milliseconds(100), isStreaming: row.isStreaming)
    #expect(text == row.text)
  }

  @Test func `the decision is followed by the cache lookup and its source`() throws {
    let folder = try TemporaryFolder()
    let loader = try ImageLoader(ImageLoader.Configuration(environment: ["HOME": folder.path]))
    let start = ContinuousClock.now
    let record = LoadRecord(isReload: true, at: start)
    // Events from another thread may come late.
    let steps: [(Int, LoadEvent.Step)] = [
      (1, .decided(loader.resolve(Self.item))), (3, .found(.disk)), (2, .queued),
    ]
    for (time, step) in steps {
      record.observe(LoadEvent(load: 1, item: Self.item, time: start + .milliseconds(time), step: step))
    }
    #expect(
      record.steps.serverTiming(at: start + .milliseconds(4))
        == "decide;dur=1.0, cache;desc=\"disk\";dur=2.0, queue;dur=1.0, total;dur=4.0"
    )
    #expect(LoadSteps.memoryTiming(.microseconds(12)) == "cache;desc=\"memory\";dur=0.012")
  }
}
