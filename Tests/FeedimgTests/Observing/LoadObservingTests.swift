import FeedimgModel
import FeedimgSystem
import LoopbackServer
import Synchronization
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// The steps that a load reports, with a real server and a real disk.
@Suite(.timeLimit(.minutes(10))) struct LoadObservingTests {
  /// Records the events.
  final class Recorder: LoadObserving {
    private let events = RecordedValues<LoadEvent>()

    func observe(_ event: LoadEvent) { events.add(event) }

    var all: [LoadEvent] { events.all }

    /// The steps by name.
    ///
    /// Repeated `bytes` steps count once.
    func names(of load: Int? = nil) -> [String] {
      let events = all.filter { load == nil || $0.load == load }
      return LoadTimeline(events).entries.map(\.name)
    }
  }

  let recorder = Recorder()

  private func bench(
    _ kind: NetworkKind = .wifi,
    memoryLimit: ByteCount = .mebibytes(1),
    folder: String? = nil,
    tries: Int = 1,
    clock: @escaping @Sendable () -> Double = SystemClock.seconds
  ) throws -> TestLoader {
    try TestLoader(
      kind,
      memoryLimit: memoryLimit,
      folder: folder,
      clock: clock,
      tries: tries,
      observers: [recorder]
    )
  }

  static let fresh = [("Content-Type", "image/jpeg"), ("Cache-Control", "max-age=600")]

  static let fetched = [
    "decided", "missed", "queued", "started", "requested", "response", "received", "verified", "stored",
    "finished",
  ]

  @Test func `a load from the network reports every step in order of time`() async throws {
    let server = try LoopbackServer { _ in .response(200, Self.fresh, body: SampleImage.jpeg) }
    let bench = try bench()
    let item = try TestLoader.item(server, original: "/a.jpg")
    let image = try await bench.loader.load(item)
    #expect(recorder.names() == Self.fetched)
    #expect(Set(recorder.all.map(\.load)).count == 1)
    #expect(recorder.all.allSatisfy { $0.item == item })
    #expect(zip(recorder.all, recorder.all.dropFirst()).allSatisfy { $0.time <= $1.time })
    let steps = recorder.all.map(\.step)
    #expect(steps.first == .decided(image.resolution))
    #expect(steps.contains(.responded(status: 200)))
    #expect(steps.contains(.verified(mediaType: "image/jpeg")))
    #expect(steps.contains(.stored(path: image.path ?? "")))
    let count = ByteCount(SampleImage.jpeg.count)
    #expect(steps.contains(.progress(LoadProgress(received: count, total: count))))
    #expect(steps.last == .finished(.network))
  }

  @Test func `memory hits and disk hits are reported`() async throws {
    let server = try LoopbackServer { _ in .response(200, Self.fresh, body: SampleImage.jpeg) }
    let item = try TestLoader.item(server, original: "/a.jpg")
    let first = try bench()
    _ = try await first.loader.load(item)
    _ = try await first.loader.load(item)
    #expect(recorder.names().suffix(3) == ["decided", "found", "finished"])
    #expect(recorder.all.last?.step == .finished(.memory))
    let second = try bench(folder: first.folder)
    _ = try await second.loader.load(item)
    #expect(recorder.all.suffix(2).map(\.step) == [.found(.disk), .finished(.disk)])
    #expect(Set(recorder.all.map(\.load)).count == 3, "each load has a number of its own")
  }

  @Test func `redirects and unstorable responses are reported`() async throws {
    let server = try LoopbackServer { request in
      request.path == "/a.jpg"
        ? .redirect(to: "/b.jpg") : .response(200, [("Cache-Control", "no-store")], body: SampleImage.jpeg)
    }
    let bench = try bench()
    _ = try await bench.loader.load(try TestLoader.item(server, original: "/a.jpg"))
    #expect(
      recorder.names() == [
        "decided", "missed", "queued", "started", "requested", "redirected", "requested", "response",
        "received", "verified", "not stored", "finished",
      ]
    )
    #expect(recorder.all.map(\.step).contains(.redirected(try ImageURL(server.url("/b.jpg")))))
  }

  @Test func `a failure is reported once, and the attempt before it as a retry`() async throws {
    let requestCount = Mutex(0)
    let server = try LoopbackServer { _ in
      let count = requestCount.withLock { requestCount in
        requestCount += 1
        return requestCount
      }
      return count == 1 ? .response(503, [("Retry-After", "0")]) : .response(404)
    }
    let bench = try bench(tries: 3)
    let item = try TestLoader.item(server, original: "/a.jpg")
    await #expect(throws: LoadError.self) { try await bench.loader.load(item) }
    #expect(
      recorder.names() == [
        "decided", "missed", "queued", "started", "requested", "response", "retried", "queued", "started",
        "requested", "response", "failed",
      ]
    )
    guard case .failed(let error)? = recorder.all.last?.step else { return }
    #expect(error.status == 404)
  }

  @Test func `a joined load is reported, and so is leaving it`() async throws {
    let gate = Gate()
    let body = SampleImage.jpeg
    let head = Reply.head(200, Self.fresh + [("Content-Length", String(body.count))])
    let server = try LoopbackServer { _ in
      Reply([.send(head + body.prefix(50)), .wait(gate), .send(Array(body.dropFirst(50)))])
    }
    let bench = try bench()
    let item = try TestLoader.item(server, original: "/a.jpg")
    let begun = RecordedValues<Bool>()
    let first = Task { try await bench.loader.load(item) { _ in begun.add(true) } }
    while begun.all.isEmpty { await Task.yield() }
    let second = Task { try await bench.loader.load(item) }
    while !recorder.all.contains(where: { $0.step == .joined }) { await Task.yield() }
    let joiner = try #require(recorder.all.first { $0.step == .joined }?.load)
    first.cancel()
    await #expect(throws: LoadError.self) { try await first.value }
    gate.open()
    _ = try await second.value
    #expect(recorder.names(of: joiner) == ["decided", "joined", "finished"])
    let beginner = try #require(recorder.all.first { $0.load != joiner }?.load)
    #expect(recorder.names(of: beginner).contains("cancelled"))
    #expect(
      recorder.names(of: beginner).last == "stored",
      "it continues for the other caller under its own number"
    )
  }

  @Test func `a background revalidation is reported under the load that showed the image`() async throws {
    let clock = TestClock()
    let server = try LoopbackServer { request in
      request["If-None-Match"] == nil
        ? .response(200, [("ETag", "\"1\""), ("Cache-Control", "max-age=60")], body: SampleImage.jpeg)
        : .response(304, [("ETag", "\"1\"")])
    }
    let bench = try bench(clock: { clock.now })
    let item = try TestLoader.item(server, original: "/a.jpg")
    _ = try await bench.loader.load(item)
    let count = recorder.all.count
    clock += 100
    _ = try await bench.loader.load(item)
    _ = await bench.loader.finishRevalidations(within: .seconds(600))
    let news = recorder.all.dropFirst(count)
    #expect(Set(news.map(\.load)).count == 1)
    #expect(news.map(\.step).contains(.revalidated(isNew: false)))
  }

  @Test func `the placeholder is reported as a placeholder`() async throws {
    let bench = try bench(.offline)
    let url = try ImageURL("http://pictures.example/a.jpg")
    let item = FeedItem(original: ImageVariant(role: .original, url: url), thumbnail: nil)
    await #expect(throws: LoadError.self) { try await bench.loader.load(item) }
    #expect(recorder.names() == ["decided", "failed"])
    guard case .failed(let error)? = recorder.all.last?.step else { return }
    #expect(error.code == .nothingToShow)
  }

  @Test func `the loads of a slot are reported too`() async throws {
    let server = try LoopbackServer { _ in .response(200, Self.fresh, body: SampleImage.jpeg) }
    let bench = try bench()
    let slot = bench.loader.slot()
    slot.show(try TestLoader.item(server, original: "/a.jpg"))
    while recorder.names().count < Self.fetched.count { await Task.yield() }
    // A slot shows the image before it is stored.
    #expect(Set(recorder.names()) == Set(Self.fetched))
  }

  @Test func `without observers no event is created`() async throws {
    let server = try LoopbackServer { _ in .response(200, Self.fresh, body: SampleImage.jpeg) }
    let bench = try TestLoader()
    let seen = RecordedValues<Bool>()
    let item = try TestLoader.item(server, original: "/a.jpg")
    _ = try await bench.loader.load(item) { _ in seen.add(LoadEventReporter.present == nil) }
    #expect(LoadEventReporter.present == nil && seen.all.allSatisfy { $0 })
  }

  @Test func `a resumed load reports the kept bytes before the new ones`()
    async throws
  {
    let origin = try PictureOrigin(ResumingLoadTests.picture, ResumingLoadTests.strong)
    let bench = try bench()
    let item = try TestLoader.item(origin.server, original: "/a.jpg")
    origin.cut(after: 120_000)
    await #expect(throws: LoadError.self) { try await bench.loader.load(item) }
    let first = recorder.all.count
    #expect(try await bench.loader.load(item).bytes == ResumingLoadTests.picture)
    let steps = recorder.all.dropFirst(first).map(\.step)
    let resumed = try #require(steps.firstIndex(of: .resumed(ByteCount(120_000))))
    let received = steps.enumerated().compactMap { index, step -> Int? in
      guard case .progress(let progress) = step else { return nil }
      #expect(index > resumed)
      return progress.received.bytes
    }
    #expect(received.last == 200_000 && received.allSatisfy { $0 > 120_000 })
  }
}
