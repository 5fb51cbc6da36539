import FeedimgModel
import FeedimgTransfer
import LoopbackServer
import Synchronization
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// How loads handle failures, with real layers.
@Suite(.timeLimit(.minutes(10))) struct FailingLoadTests {
  private static let picture = Reply.response(200, [("Content-Type", "image/jpeg")], body: SampleImage.jpeg)

  /// Fails each host with the failure in its name, without any network.
  private final class Failing: Downloading {
    let asked = Mutex<[String]>([])
    let isRepaired = Atomic(false)

    func download(
      _ request: DownloadRequest,
      into receiver: any BodyReceiving
    ) async throws(LoadError) -> ResponseHead {
      asked.withLock { $0.append(request.url.text) }
      guard isRepaired.load(ordering: .relaxed) else {
        throw LoadError(.timeout, url: request.url, message: "no response came within 20 s")
      }
      // Without a lifetime, a slow machine would revalidate the images.
      let fields = HTTPFields([
        .init(name: "Content-Type", value: "image/jpeg"), .init(name: "Cache-Control", value: "max-age=3600"),
      ])
      let head = ResponseHead(status: 200, fields: fields, url: request.url)
      try receiver.begin(head)
      try receiver.receive(SampleImage.jpeg[...])
      return head
    }
  }

  private func item(_ url: String, thumbnail: String? = nil) throws -> FeedItem {
    FeedItem(
      original: ImageVariant(role: .original, url: try ImageURL(url)),
      thumbnail: try thumbnail.map { ImageVariant(role: .thumbnail, url: try ImageURL($0)) }
    )
  }

  @Test func `a temporary failure is retried after a wait`() async throws {
    let count = Atomic(0)
    let server = try LoopbackServer { _ in
      count.wrappingAdd(1, ordering: .relaxed).oldValue < 2 ? .response(503) : Self.picture
    }
    let time = ManualTime()
    let test = try TestLoader(time: time.time, tries: 4)
    let item = try TestLoader.item(server, original: "/a.jpg")
    let load = Task { try await test.loader.load(item) }
    await time.pass(.milliseconds(500), when: 1)
    await server.reaches { $0.requests.count == 2 }
    await time.pass(.seconds(1), when: 1)
    #expect(try await load.value.bytes == SampleImage.jpeg)
    #expect(server.log.requests.count == 3)
  }

  @Test func `a missing image is requested again only after some time or a network change`()
    async throws
  {
    let server = try LoopbackServer { _ in .response(404) }
    let time = ManualTime()
    let test = try TestLoader(time: time.time)
    let item = try TestLoader.item(server, original: "/a.jpg")
    for _ in 0..<3 {
      let error = await #expect(throws: LoadError.self) { try await test.loader.load(item) }
      #expect(error?.status == 404)
    }
    #expect(server.log.requests.count == 1)
    time.pass(.seconds(300))
    await #expect(throws: LoadError.self) { try await test.loader.load(item) }
    #expect(server.log.requests.count == 2)
    test.network.become(.ethernet)
    while await test.loader.resources.transport.retries.recordCount > 0 { await Task.yield() }
    await #expect(throws: LoadError.self) { try await test.loader.load(item) }
    #expect(server.log.requests.count == 3)
  }

  @Test func `after repeated failures a host gets no more requests, and the error says so`() async throws {
    let port = try ClosedPort()
    let time = ManualTime()
    let test = try TestLoader(time: time.time)
    func load(_ number: Int) async throws -> LoadedImage {
      try await test.loader.load(try item("http://127.0.0.1:\(port.port)/\(number)"))
    }
    for number in 0..<5 { await #expect(throws: LoadError.self) { try await load(number) } }
    // Two loads that wait and fail, each after at most twice the wait before.
    for number in 5..<7 {
      let waiting = Task { try await load(number) }
      await time.pass(.seconds(4), when: 1)
      await #expect(throws: LoadError.self) { try await waiting.value }
    }
    // One load that no longer needs to wait.
    time.pass(.seconds(8))
    await #expect(throws: LoadError.self) { try await load(7) }
    let error = await #expect(throws: LoadError.self) { try await load(8) }
    #expect(error?.message.hasPrefix("the host failed before; requests resume in") == true)
  }

  @Test func `a network without any responses counts as offline until a response comes`() async throws {
    let downloader = Failing()
    let time = ManualTime()
    let test = try TestLoader(downloader: downloader, time: time.time)
    for number in 0..<4 {
      await #expect(throws: LoadError.self) {
        try await test.loader.load(item("http://h\(number % 2).example/a"))
      }
    }
    let later = try item("http://h9.example/a")
    let resolution = test.loader.resolve(later)
    #expect(resolution.situation.network == .offline)
    #expect(
      resolution.facts.first { $0.name == "network" }?.source == "connected (wifi), but no response arrives"
    )
    let error = await #expect(throws: LoadError.self) { try await test.loader.load(later) }
    #expect(error?.code == .nothingToShow)
    #expect(downloader.asked.withLock(\.count) == 4)
    downloader.isRepaired.store(true, ordering: .relaxed)
    time.pass(.seconds(5))
    #expect(try await test.loader.load(later).source == .network)
    #expect(test.loader.resolve(try item("http://h8.example/a")).situation.network == .wifi)
  }

  @Test func `without responses the cached thumbnail is shown as offline`() async throws {
    let downloader = Failing()
    let time = ManualTime()
    let test = try TestLoader(.cellular, downloader: downloader, time: time.time)
    let items = try (0..<5).map {
      try item("http://h\($0 % 2).example/\($0)", thumbnail: "http://s.example/\($0)")
    }
    downloader.isRepaired.store(true, ordering: .relaxed)
    for item in items { #expect(try await test.loader.load(item).variant.role == .thumbnail) }
    downloader.isRepaired.store(false, ordering: .relaxed)
    // Another network clears the failures, so no load may fail before the change is known.
    await test.become(.wifi)
    time.pass(.seconds(3))
    for item in items.dropLast() {
      let image = try await test.loader.load(item)
      #expect(image.variant.role == .thumbnail)
      #expect(image.notes == ["shown in place of the original: no response came within 20 s"])
    }
    let asked = downloader.asked.withLock(\.count)
    let image = try await test.loader.load(items[4])
    #expect(image.variant.role == .thumbnail)
    #expect(image.resolution.situation.network == .offline && image.notes == [])
    #expect(downloader.asked.withLock(\.count) == asked, "no more requests are sent")
  }

  @Test(arguments: [
    ("text/html", "the server sent `text/html`, which is not a supported image"),
    ("image/png", "the server declared `image/png` but sent no supported image"),
  ])
  func `a page in place of an image is reported as a page and not stored`(
    type: String,
    says: String
  ) async throws {
    let page = Array("<!DOCTYPE html><html><body>Please sign in</body></html>".utf8)
    let server = try LoopbackServer { _ in .response(200, [("Content-Type", type)], body: page) }
    let test = try TestLoader()
    let item = try TestLoader.item(server, original: "/a.jpg")
    let error = await #expect(throws: LoadError.self) { try await test.loader.load(item) }
    #expect(error?.suspectsCaptivePortal == true)
    #expect(error?.message == "\(says); this network may require you to sign in")
    #expect(test.loader.resolve(item).situation.original == .remote)
  }

  /// A captive portal cannot have the certificate of the host that it replaces.
  @Test(.enabled(if: TLSServer.isAvailable, "there is no /usr/bin/openssl to be the server"))
  func `a certificate for another name is reported as suspicious, and nothing is stored`() async throws {
    let server = try TLSServer(certifiedFor: "login.hotspot.test")
    let downloader = CurlDownloader(
      userAgent: "feedimg-tests",
      certificateFile: server.certificateFile
    )
    let test = try TestLoader(downloader: downloader)
    let item = try item("https://localhost:\(server.port)/a.jpg")
    let error = await #expect(throws: LoadError.self) { try await test.loader.load(item) }
    #expect(error?.code == .security && error?.suspectsCaptivePortal == true)
    #expect(error?.message.hasSuffix("; this network may require you to sign in") == true)
    #expect(test.loader.resolve(item).situation.original == .remote)
  }

  // MARK: Neighbours

  @Test func `attempts for one image alone never open its host's circuit`() async throws {
    let server = try LoopbackServer { $0.path == "/good" ? Self.picture : .response(500) }
    let time = ManualTime()
    let test = try TestLoader(time: time.time, tries: 4)
    for number in 0..<4 {
      let bad = try TestLoader.item(server, original: "/bad\(number)")
      let load = Task { try await test.loader.load(bad) }
      for _ in 1..<4 { await time.pass(.seconds(2), when: 1) }
      await #expect(throws: LoadError.self) { try await load.value }
    }
    #expect(server.log.requests.count == 16)
    let good = try TestLoader.item(server, original: "/good")
    #expect(try await test.loader.load(good).source == .network)
  }

  @Test func `a good image waits while its host's circuit is open, and then loads`() async throws {
    let server = try LoopbackServer { $0.path == "/good" ? Self.picture : .response(500) }
    let time = ManualTime()
    let test = try TestLoader(time: time.time)
    for number in 0..<5 {
      let bad = try TestLoader.item(server, original: "/bad\(number)")
      await #expect(throws: LoadError.self) { try await test.loader.load(bad) }
    }
    let good = try TestLoader.item(server, original: "/good")
    let load = Task { try await test.loader.load(good) }
    await time.pass(.seconds(2), when: 1)
    #expect(try await load.value.bytes == SampleImage.jpeg)
  }

  @Test func `another port of a host is another server`() async throws {
    let bad = try LoopbackServer { _ in .response(500) }
    let good = try LoopbackServer { _ in Self.picture }
    let test = try TestLoader(time: ManualTime().time)
    for number in 0..<5 {
      let item = try TestLoader.item(bad, original: "/\(number)")
      await #expect(throws: LoadError.self) { try await test.loader.load(item) }
    }
    #expect(try await test.loader.load(try TestLoader.item(good, original: "/a")).source == .network)
  }

  @Test(.timeLimit(.minutes(10)))
  func `a failure at a redirect's target does not count against the first server`() async throws {
    let closed = try ClosedPort()
    let server = try LoopbackServer { request in
      guard request.path != "/good" else { return Self.picture }
      return .response(302, [("Location", "http://127.0.0.1:\(closed.port)\(request.path)")])
    }
    let time = ManualTime()
    let test = try TestLoader(time: time.time)
    for number in 0..<12 {
      let bad = try TestLoader.item(server, original: "/\(number)")
      let error = await #expect(throws: LoadError.self) { try await test.loader.load(bad) }
      #expect(error?.message.hasPrefix("the host failed before") == false)
    }
    #expect(server.log.requests.count == 12)
    let good = try TestLoader.item(server, original: "/good")
    #expect(try await test.loader.load(good).source == .network)
    let direct = try item("http://127.0.0.1:\(closed.port)/direct")
    let load = Task { try await test.loader.load(direct) }
    // The target's circuit is open.
    while time.sleepers == 0 { await Task.yield() }
    load.cancel()
    await #expect(throws: LoadError.self) { try await load.value }
  }

  @Test func `a load that is cancelled while it waits for a host ends at once`() async throws {
    let server = try LoopbackServer { _ in .response(500) }
    let time = ManualTime()
    let test = try TestLoader(time: time.time)
    for number in 0..<5 {
      let bad = try TestLoader.item(server, original: "/bad\(number)")
      await #expect(throws: LoadError.self) { try await test.loader.load(bad) }
    }
    let last = try TestLoader.item(server, original: "/last")
    let load = Task { try await test.loader.load(last) }
    while time.sleepers == 0 { await Task.yield() }
    load.cancel()
    let error = await #expect(throws: LoadError.self) { try await load.value }
    #expect(error?.code == .cancelled)
    #expect(server.log.requests.count == 5)
  }
}
