import LoopbackServer
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// The `Save-Data` field of requests that waited while metering changed.
@Suite(.timeLimit(.minutes(10))) struct MeteringChangeTests {
  static let prices: [(before: Metered, after: Metered, sent: [String?])] = [
    (.no, .yes, [nil, "on"]), (.yes, .no, ["on", nil]), (.no, .unknown, [nil, nil]),
    (.yes, .yes, ["on", "on"]),
  ]

  /// Returns when the loader knows of the change.
  static func become(_ metered: Metered, _ test: TestLoader) async {
    await test.become(.wifi, metered: metered)
  }

  /// A loader whose slots are all taken by loads that a gate holds.
  private struct BusyLoader {
    let gate: Gate
    let server: LoopbackServer
    let test: TestLoader
    let busy: [Task<LoadedImage, any Error>]

    init(_ metered: Metered) async throws {
      let gate = Gate()
      let server = try LoopbackServer { request in
        let response = Reply.response(body: SampleImage.jpeg)
        return request.path == "/a.jpg" ? response : .held(by: gate, then: response)
      }
      let test = try TestLoader(time: ManualTime().time)
      await MeteringChangeTests.become(metered, test)
      let limits = await test.loader.resources.transport.scheduler.limits
      let busy = try (0..<min(limits.total, limits.perHost)).map { number in
        let item = try TestLoader.item(server, original: "/busy\(number).jpg")
        return Task { try await test.loader.load(item) }
      }
      await server.reaches { $0.requests.count == busy.count }
      (self.gate, self.server, self.test, self.busy) = (gate, server, test, busy)
    }

    /// Starts this many loads of one image and returns when all wait.
    func waiting(_ count: Int) async throws -> [Task<LoadedImage, any Error>] {
      let item = try TestLoader.item(server, original: "/a.jpg")
      let loads = (0..<count).map { _ in Task { try await test.loader.load(item) } }
      while test.loader.resources.loads.coalescer.count < busy.count + count { await Task.yield() }
      return loads
    }

    /// Lets all loads finish.
    func open() async throws {
      gate.open()
      for load in busy { _ = try await load.value }
    }
  }

  @Test(arguments: prices)
  func `a queued request is sent with the metering of its start time`(
    _ before: Metered,
    _ after: Metered,
    _ sent: [String?]
  ) async throws {
    let crowd = try await BusyLoader(before)
    let load = try await crowd.waiting(1)[0]
    await Self.become(after, crowd.test)
    try await crowd.open()
    #expect(try await load.value.bytes == SampleImage.jpeg)
    let requests = crowd.server.log.requests
    #expect(requests.first { $0.path == "/a.jpg" }?["Save-Data"] == sent[1])
    // Requests that were already sent do not change.
    #expect(requests.filter { $0.path != "/a.jpg" }.allSatisfy { $0["Save-Data"] == sent[0] })
    #expect(requests.count == crowd.busy.count + 1)
    while await !crowd.test.loader.resources.transport.scheduler.isIdle { await Task.yield() }
  }

  @Test(arguments: prices)
  func `a retry is sent with the current metering`(
    _ before: Metered,
    _ after: Metered,
    _ sent: [String?]
  ) async throws {
    let isBroken = BrokenOnce()
    let server = try LoopbackServer { _ in
      isBroken.next() ? .response(503) : .response(body: SampleImage.jpeg)
    }
    let time = ManualTime()
    let test = try TestLoader(time: time.time, tries: 2)
    await Self.become(before, test)
    let item = try TestLoader.item(server, original: "/a.jpg")
    let load = Task { try await test.loader.load(item) }
    await server.reaches { $0.requests.count == 1 }
    while time.sleepers == 0 { await Task.yield() }
    await Self.become(after, test)
    time.pass(.seconds(1))
    #expect(try await load.value.bytes == SampleImage.jpeg)
    #expect(server.log.requests.map { $0["Save-Data"] } == sent)
  }

  @Test func `a response that readers have begun is neither restarted nor reported as complete`() async throws
  {
    let picture = SampleImage.jpeg + [UInt8](repeating: 7, count: 300_000)
    let origin = try PictureOrigin(picture, [("Content-Type", "image/jpeg")])
    origin.cut(after: 200_000)
    let time = ManualTime()
    let test = try TestLoader(time: time.time, tries: 2, policy: "always-original")
    await Self.become(.no, test)
    let item = try TestLoader.item(origin.server, original: "/a.jpg")
    let delivery = try await test.loader.deliver(item, handle: LoadHandle(.visible), isReload: false)
    guard case .arriving(let image, _) = delivery else {
      throw LoadError(.malformed, message: "not while it arrives")
    }
    await Self.become(.yes, test)
    let clock = Task {
      while !Task.isCancelled {
        time.pass(.seconds(1))
        await Task.yield()
      }
    }
    var bytes: [UInt8] = []
    do throws(LoadError) {
      while let chunk = try await image.response.body.chunk(at: bytes.count) { bytes += chunk }
      let isWhole = bytes == picture
      #expect(isWhole)
    } catch {
      #expect(error.code == .truncated)
    }
    clock.cancel()
  }

  @Test func `a range request has the fields of the first request`() async throws {
    let fields = [("Content-Type", "image/jpeg"), ("ETag", "\"1\""), ("Accept-Ranges", "bytes")]
    let picture = PictureOrigin.picture(1, size: 4000)
    let downloader = LateDownloader(picture, fields, .init(before: 1000, after: 3000))
    let test = try TestLoader(downloader: downloader, time: ManualTime().time)
    let item = try TestLoader.item(original: "http://a.example/p")
    let load = Task { try await test.loader.load(item) }
    while downloader.begun < 1 { await Task.yield() }
    // Another path is used, on which data is metered.
    await test.become(.ethernet, metered: .yes)
    #expect(try await load.value.bytes == picture)
    #expect(downloader.requests.map { $0.fields["Range"] } == [nil, "bytes=1000-"])
    #expect(downloader.requests.map { $0.fields["Save-Data"] } == [nil, nil])
  }

  @Test func `all callers of one image get a result`() async throws {
    let crowd = try await BusyLoader(.no)
    let loads = try await crowd.waiting(3)
    await Self.become(.yes, crowd.test)
    try await crowd.open()
    for load in loads { #expect(try await load.value.bytes == SampleImage.jpeg) }
    let asked = crowd.server.log.requests.filter { $0.path == "/a.jpg" }
    #expect(!asked.isEmpty && asked.allSatisfy { $0["Save-Data"] == "on" })
  }
}
