import FeedimgHTTPCache
import FeedimgModel
import FeedimgSystem
import Glibc
import LoopbackServer
import Synchronization
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// How a loader handles the responses of a service.
@Suite(.timeLimit(.minutes(10))) struct ServiceResponseTests {
  private typealias Response = HeldDownloader.Response

  /// A loader beside a service that sends this response.
  private func loader(_ response: Response, downloader: (any Downloading)? = nil) throws -> TestLoader {
    try loader(downloader: downloader) { response }
  }

  private func loader(
    downloader: (any Downloading)? = nil,
    time: MonotonicTime = .system(),
    serviceTime: MonotonicTime = .system(),
    _ response: @escaping @Sendable () -> Response
  ) throws -> TestLoader {
    try TestLoader(
      downloader: downloader,
      time: time,
      service: { folder in
        let socket = folder + "/service.sock"
        close(open(socket, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600))
        let service = HeldDownloader(
          holding: { _ in false },
          responding: { $0.url.text.contains("/v1/image") ? response() : Response() }
        )
        return ServiceClient(
          socket: socket,
          cacheFolder: folder + "/cache",
          downloader: service,
          time: serviceTime
        )
      }
    )
  }

  @Test func `an image through the service ends a dead network`() async throws {
    let time = ManualTime()
    let fields = [("Content-Type", "image/jpeg"), ("Cache-Status", "feedimg; fwd=uri-miss; stored")]
    let test = try loader(time: time.time) { Response(fields: fields) }
    let liveness = test.loader.resources.transport.retries.liveness
    let silence = LoadError(.timeout, message: "no response came")
    for host in ["a", "b", "a", "b"] { liveness.failed(silence, host, since: .zero) }
    #expect(liveness.isDead)
    // The next load is the probe.
    time.pass(.seconds(5))
    _ = try await test.loader.load(try TestLoader.item(original: "http://a.example/a.jpg"))
    #expect(!liveness.isDead)
  }

  @Test(arguments: [("feedimg; fwd=uri-miss; stored", 1), ("feedimg; fwd=uri-miss; collapsed", 0)])
  func `what a service loads for another program costs a prefetch nothing`(
    status: String,
    paid: Int
  ) async throws {
    let test = try loader(
      Response(fields: [("Content-Type", "image/jpeg"), ("Cache-Status", status)])
    )
    let item = try TestLoader.item(original: "http://a.example/a.jpg")
    let prefetch = test.loader.prefetch([item])
    let progress = await prefetch.finish()
    #expect(progress.received == ByteCount(paid * SampleImage.jpeg.count))
    #expect(progress.fetched == paid && progress.cached == 1 - paid)
  }

  @Test func `a thumbnail that a service still forwards counts as fetched, although its original failed`()
    async throws
  {
    let problem =
      #"{"type":"urn:feedimg:problem:status","title":"x","status":502,"detail":"x","originStatus":404}"#
    let isOriginal = BrokenOnce()
    let test = try loader {
      isOriginal.next()
        ? Response(status: 502, body: Array(problem.utf8), fields: [])
        : Response(fields: [("Content-Type", "image/jpeg"), ("Cache-Status", "feedimg; fwd=uri-miss")])
    }
    let item = try TestLoader.item(original: "http://a.example/a.jpg", thumbnail: "http://a.example/s")
    let progress = await test.loader.prefetch([item]).finish()
    #expect(progress.fetched == 1 && progress.unkept == 0, "\(progress)")
  }

  @Test func `an uncached image from a service counts as one miss and no hit`() async throws {
    var made: DiskCache?
    let test = try TestLoader(
      service: { folder in
        let socket = folder + "/service.sock"
        close(open(socket, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600))
        return ServiceClient(
          socket: socket,
          cacheFolder: folder + "/cache",
          downloader: HeldDownloader(holding: { _ in false })
        )
      },
      store: { disk in
        made = disk
        return disk
      }
    )
    let disk = try #require(made)
    // The index exists, so that it counts.
    try await test.loader.store(SampleImage.jpeg, for: try ImageURL("http://a.example/b.jpg"))
    let before = try disk.info()
    _ = try await test.loader.load(try TestLoader.item(original: "http://a.example/a.jpg"))
    let after = try disk.info()
    #expect(after.misses - before.misses == 1 && after.hits == before.hits)
  }

  @Test func `a load waits for the store of the service, and a slot does not`() async throws {
    let service = HeldDownloader(holding: { _ in false })
    let test = try TestLoader(service: { folder in
      let socket = folder + "/service.sock"
      close(open(socket, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600))
      return ServiceClient(socket: socket, cacheFolder: folder + "/cache", downloader: service)
    })
    func lastField() -> String? {
      service.requests.all.last { $0.url.text.contains("/v1/image") }?.fields["Feedimg-Wait"]
    }
    _ = try await test.loader.load(try TestLoader.item(original: "http://a.example/a.jpg"))
    #expect(lastField() == "stored")
    let slot = test.loader.slot()
    slot.show(try TestLoader.item(original: "http://a.example/b.jpg"))
    _ = await slot.first { !$0.isLoading }
    #expect(service.requests.all.contains { $0.url.text.contains("b.jpg") } && lastField() == nil)
  }

  @Test func `a prefetch pays for its own load when the transfer of another program stops`()
    async throws
  {
    let fields = [("Content-Type", "image/jpeg"), ("Cache-Status", "feedimg; fwd=uri-miss; collapsed")]
    let broken = Response(body: Array(SampleImage.jpeg.prefix(100)), fields: fields, isInterrupted: true)
    let test = try loader(broken, downloader: HeldDownloader(holding: { _ in false }))
    let item = try TestLoader.item(original: "http://a.example/a.jpg")
    let progress = await test.loader.prefetch([item]).finish()
    #expect(progress.fetched == 1 && progress.received == ByteCount(SampleImage.jpeg.count), "\(progress)")
  }

  @Test func `a caller can see the progress of a service's transfer that another program pays for`()
    async throws
  {
    let status = ("Cache-Status", "feedimg; fwd=uri-miss; collapsed")
    let test = try loader(Response(fields: [("Content-Type", "image/jpeg"), status]))
    let told = RecordedValues<LoadProgress>()
    _ = try await test.loader.load(try TestLoader.item(original: "http://a.example/a.jpg")) { told.add($0) }
    #expect(told.all.last?.received == ByteCount(SampleImage.jpeg.count))
  }

  @Test func `a failure reported by a service names the server that failed`() async throws {
    let problem =
      #"{"type":"urn:feedimg:problem:status","title":"x","status":502,"detail":"x","originStatus":503,"#
      + #""origin":"http://b.example"}"#
    let test = try loader(Response(status: 502, body: Array(problem.utf8), fields: []))
    let item = try TestLoader.item(original: "http://a.example/a.jpg")
    let error = await #expect(throws: LoadError.self) { try await test.loader.load(item) }
    #expect(error?.status == 503 && error?.servers.map(\.origin) == ["http://b.example"])
  }

  @Test func `a slot asks the service again after the server's cooldown`()
    async throws
  {
    let problem =
      #"{"type":"urn:feedimg:problem:status","title":"x","status":502,"detail":"x","originStatus":503,"#
      + #""originCircuitOpen":true}"#
    let (time, isWell) = (ManualTime(), Flag())
    let test = try loader(time: time.time) {
      isWell.isSet
        ? Response(fields: [("Content-Type", "image/jpeg"), ("Cache-Status", "feedimg; fwd=uri-miss")])
        : Response(status: 502, body: Array(problem.utf8), fields: [])
    }
    let slot = test.loader.slot()
    slot.show(try TestLoader.item(original: "http://a.example/a.jpg"))
    while slot.presentation?.isLoading != false { await Task.yield() }
    #expect(slot.presentation?.error?.servers.first?.circuit == .openInService)
    isWell.set()
    while slot.presentation?.shown != .original {
      time.passToNext()
      await Task.yield()
    }
    #expect(slot.presentation?.shown == .original)
    #expect(time.time.now() >= .seconds(5), "the circuit is still open a moment later")
  }

  @Test(arguments: ["feedimg; fwd=uri-miss; stored", "feedimg; fwd=uri-miss; collapsed"])
  func `received bytes reach the callers that wait for the service`(status: String) async throws {
    let test = try loader(Response(fields: [("Content-Type", "image/jpeg"), ("Cache-Status", status)]))
    let woken = RecordedValues<Bool>()
    let calls = CircuitSubscription(test.loader.resources.transport.retries) { .visible }
    var error = LoadError(.timeout, message: "no response came")
    error.attribute(to: "http://a.example", .closed)
    await calls.wait(after: error) { woken.add(true) }
    _ = try await test.loader.load(try TestLoader.item(original: "http://a.example/a.jpg"))
    #expect(woken.all.count == 1)
    calls.close()
  }

  private final class Flag: Sendable {
    private let value = Atomic(false)

    var isSet: Bool { value.load(ordering: .acquiring) }

    func set() { value.store(true, ordering: .releasing) }
  }

  /// Interrupts the images whose path begins with `/half`.
  private struct InterruptingDownloader: Downloading {
    func download(
      _ request: DownloadRequest,
      into receiver: any BodyReceiving
    ) async throws(LoadError) -> ResponseHead {
      let fields = HTTPFields([.init(name: "Content-Type", value: "image/jpeg")])
      let head = ResponseHead(status: 200, fields: fields, url: request.url)
      try receiver.begin(head)
      guard request.url.text.hasSuffix("half%22%7D") else {
        try receiver.receive(SampleImage.jpeg[...])
        return head
      }
      try receiver.receive(SampleImage.jpeg.prefix(10))
      throw LoadError(.truncated, url: request.url, message: "the body ended")
    }
  }

  @Test func `the explanation says what a service loaded, and why it did not load the rest`() async throws {
    let origin = try LoopbackServer { _ in
      .response(200, [("Content-Type", "image/jpeg")], body: SampleImage.jpeg)
    }
    let test = try TestLoader(service: { folder in
      let socket = folder + "/service.sock"
      close(open(socket, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600))
      return ServiceClient(
        socket: socket,
        cacheFolder: folder + "/cache",
        downloader: InterruptingDownloader()
      )
    })
    func load(_ path: String) async throws -> String {
      _ = try await test.loader.load(try TestLoader.item(origin, original: path))
      let summary = try #require(test.loader.serviceSummary)
      return summary.replacing("`\(test.folder)/service.sock`", with: "S")
    }
    #expect(
      try await load("/half")
        == "not loaded by the service at S: the response was interrupted: the body ended"
    )
    let rest = "1 image loaded by the service at S, others not: the response was interrupted: the body ended"
    #expect(try await load("/whole") == rest)
  }

  /// The image from the cache of a service.
  private static let served = Response(fields: [
    ("Content-Type", "image/jpeg"), ("Cache-Status", "feedimg; hit"),
  ])

  @Test func `a service that starts later is used`() async throws {
    let origin = try LoopbackServer { _ in
      .response(200, [("Content-Type", "image/jpeg")], body: SampleImage.jpeg)
    }
    let test = try loader { Self.served }
    let socket = test.folder + "/service.sock"
    unlink(socket)
    #expect(try await test.loader.load(try TestLoader.item(origin, original: "/a")).source == .network)
    #expect(test.loader.serviceSummary?.hasSuffix(": it is not running") == true)
    close(open(socket, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600))
    #expect(try await test.loader.load(try TestLoader.item(origin, original: "/b")).source == .disk)
    #expect(origin.log.requests.count == 1)
  }

  @Test func `a service that did not work is asked again after a pause`() async throws {
    let (time, isWell) = (ManualTime(), Flag())
    let origin = try LoopbackServer { _ in
      .response(200, [("Content-Type", "image/jpeg")], body: SampleImage.jpeg)
    }
    let test = try loader(serviceTime: time.time) {
      isWell.isSet ? Self.served : Response(status: 500, body: [], fields: [])
    }
    func source(_ path: String) async throws -> LoadedImage.Source {
      try await test.loader.load(try TestLoader.item(origin, original: path)).source
    }
    #expect(try await source("/a") == .network)
    isWell.set()
    #expect(try await source("/b") == .network)
    time.pass(ServiceClient.pause)
    #expect(try await source("/c") == .disk)
    #expect(origin.log.requests.count == 2)
  }

  @Test func `the explanation says what a service refuses to load`() async throws {
    let problem =
      #"{"type":"urn:feedimg:problem:forbidden-address","title":"x","status":403,"detail":"it is private"}"#
    let test = try loader(Response(status: 403, body: Array(problem.utf8), fields: []))
    let origin = try LoopbackServer { _ in
      .response(200, [("Content-Type", "image/jpeg")], body: SampleImage.jpeg)
    }
    #expect(try await test.loader.load(try TestLoader.item(origin, original: "/a")).source == .network)
    #expect(test.loader.serviceSummary?.hasSuffix(": it is private") == true)
  }
}
