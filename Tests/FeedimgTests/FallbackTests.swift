import LoopbackServer
import Synchronization
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Loads whose original fails, or is not allowed for long.
@Suite struct FallbackTests {
  private static let picture = Reply.response(200, [("Content-Type", "image/jpeg")], body: SampleImage.jpeg)

  /// Records each request and fails it.
  private final class Refusing: Downloading {
    let requests = Mutex<[DownloadRequest]>([])

    func download(
      _ request: DownloadRequest,
      into receiver: any BodyReceiving
    ) async throws(LoadError) -> ResponseHead {
      requests.withLock { $0.append(request) }
      throw LoadError(.connection, url: request.url, message: "refused by the test")
    }
  }

  /// Records the end of a load.
  private final class EndRecorder: LoadObserving {
    private let isThere = Atomic(false)
    var hasCome: Bool { isThere.load(ordering: .acquiring) }

    func observe(_ event: LoadEvent) {
      switch event.step {
      case .finished, .failed, .cancelled: isThere.store(true, ordering: .releasing)
      default: break
      }
    }
  }

  @Test func `the thumbnail is shown when the original is gone`() async throws {
    let server = try LoopbackServer { $0.target == "/s.jpg" ? Self.picture : .response(410) }
    let test = try TestLoader()
    let item = try TestLoader.item(server, original: "/a.jpg", thumbnail: "/s.jpg")
    let image = try await test.loader.load(item)
    #expect(image.variant.role == .thumbnail)
    #expect(image.notes == ["shown in place of the original: the server responded with 410 Gone"])
  }

  /// A way in which an original fails.
  struct OriginalFailure: Sendable, CustomTestStringConvertible {
    var testDescription: String
    /// Nil if no server listens.
    var reply: Reply?
    /// The expected text.
    var words: String
  }

  static let mishaps = [
    OriginalFailure(testDescription: "400", reply: .response(400), words: "the server responded with 400"),
    OriginalFailure(testDescription: "404", reply: .response(404), words: "the server responded with 404"),
    OriginalFailure(
      testDescription: "429",
      reply: .response(429, [("Retry-After", "600")]),
      words: "the server responded with 429"
    ),
    OriginalFailure(testDescription: "500", reply: .response(500), words: "the server responded with 500"),
    OriginalFailure(testDescription: "503", reply: .response(503), words: "the server responded with 503"),
    OriginalFailure(
      testDescription: "truncated",
      reply: .truncated(SampleImage.jpeg, after: 100),
      words: "the body ended after 100 of"
    ),
    OriginalFailure(
      testDescription: "malformed",
      reply: .raw("HTTP/1.1 ok\r\n\r\n"),
      words: "the response violates HTTP"
    ),
    OriginalFailure(testDescription: "hung up", reply: .hangUp, words: "the server closed the connection"),
    OriginalFailure(testDescription: "refused", reply: nil, words: "no connection to 127.0.0.1"),
  ]

  @Test(arguments: mishaps, [false, true])
  func `for every failure of the original its thumbnail is shown, cached or not`(
    _ failure: OriginalFailure,
    _ isCached: Bool
  ) async throws {
    let closed = try ClosedPort()
    let originals = try LoopbackServer { _ in failure.reply ?? .hangUp }
    let thumbnails = try LoopbackServer { _ in Self.picture }
    let original = failure.reply == nil ? "http://127.0.0.1:\(closed.port)/a" : originals.url("/a")
    let item = FeedItem(
      original: ImageVariant(role: .original, url: try ImageURL(original)),
      thumbnail: ImageVariant(role: .thumbnail, url: try ImageURL(thumbnails.url("/s")))
    )
    let test = try TestLoader(isCached ? .cellular : .wifi)
    if isCached {
      #expect(try await test.loader.load(item).variant.role == .thumbnail)
      test.network.become(.wifi)
    }
    let image = try await test.loader.load(item)
    #expect(image.variant.role == .thumbnail)
    let note = try #require(image.notes.first)
    #expect(note.hasPrefix("shown in place of the original: \(failure.words)"), "\(note)")
    #expect(image.failure?.url == item.original?.url)
    #expect(thumbnails.log.requests.count == 1)
    #expect(originals.log.requests.count == (failure.reply == nil ? 0 : 1))
  }

  @Test(arguments: [("h.example", ["/a"]), ("other.example", ["/a", "/s"])])
  func `the thumbnail is not requested from an unreachable server, but from another one it is`(
    _ host: String,
    _ paths: [String]
  ) async throws {
    let downloader = Refusing()
    let test = try TestLoader(downloader: downloader)
    let item = FeedItem(
      original: ImageVariant(role: .original, url: try ImageURL("http://h.example/a")),
      thumbnail: ImageVariant(role: .thumbnail, url: try ImageURL("http://\(host)/s"))
    )
    let error = await #expect(throws: LoadError.self) { try await test.loader.load(item) }
    #expect(error?.code == .connection && error?.url == item.original?.url)
    let asked = downloader.requests.withLock { $0.map(\.url.text) }
    #expect(asked == zip(["h.example", host], paths).map { "http://\($0)\($1)" })
  }

  @Test(arguments: [false, true])
  func `after a redirect the target server counts as unreachable`(isBehind: Bool) async throws {
    let closed = try ClosedPort()
    let behind = "http://127.0.0.1:\(closed.port)"
    let server = try LoopbackServer { $0.path == "/a" ? .redirect(to: behind + "/a") : Self.picture }
    let test = try TestLoader()
    var item = try TestLoader.item(server, original: "/a", thumbnail: "/s")
    if isBehind { item.thumbnail?.url = try ImageURL(behind + "/s") }
    do throws(LoadError) {
      let image = try await test.loader.load(item)
      #expect(!isBehind && image.variant.role == .thumbnail)
      #expect(image.failure?.url == item.original?.url)
    } catch {
      #expect(isBehind && error.code == .connection && error.url == item.original?.url)
      #expect(!error.message.contains("the thumbnail failed as well"), "it was not requested")
    }
  }

  @Test func `a thumbnail that replaces an original continues when the network becomes metered`() async throws
  {
    let gate = Gate()
    let server = try LoopbackServer { request in
      switch request.path {
      case "/a": .response(404)
      case "/t": Self.picture
      default: .held(by: gate, then: Self.picture)
      }
    }
    let test = try TestLoader()
    let item = try TestLoader.item(server, original: "/a", thumbnail: "/s")
    let load = Task { try await test.loader.load(item) }
    await server.reaches { $0.count(of: "/s") == 1 }
    // Later subscribers hear of later changes. When the second decision comes, the first subscriber has
    // heard.
    let other = try TestLoader.item(server, original: "/b", thumbnail: "/t")
    let reporter = Task { try await test.loader.load(other) }
    await server.reaches { $0.count(of: "/b") == 1 }
    test.network.become(.cellular)
    #expect(try await reporter.value.variant.role == .thumbnail)
    gate.open()
    let image = try await load.value
    #expect(image.variant.role == .thumbnail && image.failure?.status == 404)
    #expect(server.log.count(of: "/s") == 1)
  }

  @Test func `no thumbnail is fetched for an original that a caller has begun to read`() async throws {
    let picture = SampleImage.jpeg + [UInt8](repeating: 7, count: 300_000)
    let server = try LoopbackServer {
      $0.path == "/a" ? .truncated(picture, after: 200_000) : Self.picture
    }
    let test = try TestLoader()
    let item = try TestLoader.item(server, original: "/a", thumbnail: "/s")
    let ending = EndRecorder()
    let delivery = try await test.loader.deliver(
      item,
      handle: LoadHandle(.visible),
      isReload: false,
      observer: ending
    )
    guard case .arriving(let image, _) = delivery else {
      throw LoadError(.malformed, message: "not while it arrives")
    }
    let error = await #expect(throws: LoadError.self) {
      var position = 0
      while let chunk = try await image.response.body.chunk(at: position) { position += chunk.count }
    }
    #expect(error?.code == .truncated)
    while !ending.hasCome { await Task.yield() }
    #expect(server.log.count(of: "/s") == 0)
  }

  @Test(arguments: [404, 500])
  func `a policy that never allows the thumbnail alone is respected`(_ status: Int) async throws {
    let server = try LoopbackServer { $0.path == "/s" ? Self.picture : .response(status) }
    let test = try TestLoader(followsPolicies: true)
    try test.write(
      policy: "| original | → image |\n|---|---|\n| none | placeholder |\n| not none | original |\n"
    )
    let item = try TestLoader.item(server, original: "/a", thumbnail: "/s")
    let error = await #expect(throws: LoadError.self) { try await test.loader.load(item) }
    #expect(error?.status == status)
    #expect(server.log.count(of: "/s") == 0)
  }

  @Test func `a cancelled load shows nothing, even with a cached thumbnail`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { $0.path == "/s" ? Self.picture : .held(by: gate, then: .response(500)) }
    let test = try TestLoader(.cellular)
    let item = try TestLoader.item(server, original: "/a", thumbnail: "/s")
    _ = try await test.loader.load(item)
    test.network.become(.wifi)
    let load = Task { try await test.loader.load(item) }
    await server.reaches { $0.count(of: "/a") == 1 }
    load.cancel()
    let error = await #expect(throws: LoadError.self) { try await load.value }
    #expect(error?.code == .cancelled)
    gate.open()
  }

  @Test func `if both fail, the error is the original's and mentions the thumbnail`() async throws {
    let server = try LoopbackServer { $0.target == "/s.jpg" ? .response(503) : .response(404) }
    let test = try TestLoader()
    let item = try TestLoader.item(server, original: "/a.jpg", thumbnail: "/s.jpg")
    let error = await #expect(throws: LoadError.self) { try await test.loader.load(item) }
    #expect(error?.status == 404)
    #expect(error?.url == item.original?.url)
    #expect(
      error?.message
        == "the server responded with 404 Not Found; "
        + "the thumbnail failed as well: the server responded with 503 Service Unavailable"
    )
  }

  @Test func `a load cancelled while it turns to the thumbnail reports cancellation`() async throws {
    let gate = Gate()
    let server = try LoopbackServer {
      $0.target == "/s.jpg" ? .held(by: gate, then: Self.picture) : .response(404)
    }
    let test = try TestLoader()
    let item = try TestLoader.item(server, original: "/a.jpg", thumbnail: "/s.jpg")
    let load = Task { try await test.loader.load(item) }
    await server.reaches { $0.requests.count == 2 }
    load.cancel()
    let error = await #expect(throws: LoadError.self) { try await load.value }
    #expect(error?.code == .cancelled)
    gate.open()
  }

  @Test func `a transfer that takes too long fails`() async throws {
    let downloader = Refusing()
    let test = try TestLoader(downloader: downloader)
    let url = try ImageURL("http://127.0.0.1/a")
    let item = FeedItem(original: ImageVariant(role: .original, url: url), thumbnail: nil)
    await #expect(throws: LoadError.self) { try await test.loader.load(item) }
    #expect(downloader.requests.withLock { $0.map(\.totalTimeout) } == [.seconds(600)])
  }
}
