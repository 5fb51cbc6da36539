import FeedimgModel
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// How the steps of a load are ordered and printed.
@Suite struct LoadTimelineTests {
  let start = ContinuousClock.now

  private func event(_ milliseconds: Int, _ step: LoadEvent.Step) throws -> LoadEvent {
    let url = try ImageURL("http://pictures.example/a.jpg")
    let item = FeedItem(original: ImageVariant(role: .original, url: url), thumbnail: nil)
    return LoadEvent(load: 1, item: item, time: start + .milliseconds(milliseconds), step: step)
  }

  private func progress(_ received: Int, _ total: Int?) -> LoadEvent.Step {
    .progress(LoadProgress(received: ByteCount(received), total: total.map { ByteCount($0) }))
  }

  @Test func `a step lasts until the next one, and byte events are merged`() throws {
    let timeline = LoadTimeline([
      try event(0, .queued), try event(1, .started), try event(40, .responded(status: 200)),
      try event(50, progress(1000, 3000)), try event(60, progress(2000, 3000)),
      try event(90, progress(3000, 3000)), try event(95, .finished(.network)),
    ])
    #expect(timeline.entries.map(\.name) == ["queued", "started", "response", "received", "finished"])
    #expect(timeline.entries.map(\.begin) == [0, 1, 40, 50, 95].map { .milliseconds($0) })
    #expect(timeline.entries.map(\.end) == [1, 40, 50, 95, 95].map { .milliseconds($0) })
    #expect(timeline.entries.map(\.detail) == ["", "", "200", "3 kB", "from the network"])
    #expect(timeline.duration == .milliseconds(95))
  }

  @Test func `late events are sorted into place`() throws {
    let timeline = LoadTimeline([try event(5, .started), try event(0, .queued), try event(5, .requested)])
    #expect(timeline.entries.map(\.name) == ["queued", "started", "requested"])
  }

  @Test func `without events there is no timeline`() {
    #expect(LoadTimeline([]).entries.isEmpty && LoadTimeline([]).duration == .zero)
    #expect(LoadTimeline([]).json == "[]")
  }

  @Test func `JSON has times in milliseconds`() throws {
    let timeline = LoadTimeline([try event(0, .queued), try event(1234, .paused)])
    #expect(
      timeline.json == """
        [{"ms":0.000,"lasts":1234.000,"step":"queued","detail":""},\
        {"ms":1234.000,"lasts":0.000,"step":"paused","detail":"for a more urgent transfer"}]
        """
    )
  }
}
