import FeedimgModel
import FeedimgTransfer
import FoundationEssentials
import LoopbackServer
import Synchronization
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Loads during which the service stops responding.
@Suite(.timeLimit(.minutes(10))) struct HungServiceTests {
  /// Waits only briefly for the service after the first time.
  private final class ShortTimeoutDownloader: Downloading {
    private let asked = Atomic(0)
    private let downloader = CurlDownloader(userAgent: "feedimg-tests")

    func download(
      _ request: DownloadRequest,
      into receiver: any BodyReceiving
    ) async throws(LoadError) -> ResponseHead {
      var request = request
      if request.url.text.hasSuffix("/healthz"), asked.add(1, ordering: .relaxed).newValue > 1 {
        (request.connectTimeout, request.responseTimeout) = (.milliseconds(50), .milliseconds(50))
      }
      return try await downloader.download(request, into: receiver)
    }
  }

  /// A service that shuts down: it accepts no new connections and completes the running image.
  private final class ShutdownDownloader: Downloading {
    let service = HeldDownloader(holding: { $0.url.text.contains("/v1/image") })
    let refused = Atomic(0)

    func download(
      _ request: DownloadRequest,
      into receiver: any BodyReceiving
    ) async throws(LoadError) -> ResponseHead {
      if request.url.text.hasSuffix("/healthz"), !service.asked.isEmpty {
        refused.add(1, ordering: .relaxed)
        throw LoadError(.connection, message: "connection refused")
      }
      return try await service.download(request, into: receiver)
    }
  }

  private static let image = PictureOrigin.picture(1, size: 8000)

  private let time = ManualTime()

  private func link(in folder: String, _ downloader: any Downloading) -> ServiceClient {
    ServiceClient(
      socket: folder + "/service.sock",
      cacheFolder: folder + "/cache",
      downloader: downloader,
      probeTimeout: .seconds(60),
      time: time.time
    )
  }

  /// Loads an image through an absent service, which a downloader simulates.
  private func load(_ test: TestLoader, _ link: ServiceClient) throws -> Task<FetchedImage?, any Error> {
    try Data().write(to: URL(filePath: test.folder + "/service.sock"))
    let variant = ImageVariant(role: .original, url: try ImageURL("http://x.example/a"))
    return Task {
      try await link.load(
        variant,
        UserSettings(),
        from: test.loader.resources.storage.store,
        on: test.loader.resources.storage.reads,
        load: InFlightLoad(.visible)
      )
    }
  }

  @Test(arguments: [nil, 0, 4000])
  func `a service that hangs is abandoned, and the program loads by itself`(sent: Int?) async throws {
    let origin = try LoopbackServer { _ in .response(200, [("Content-Type", "image/jpeg")], body: Self.image)
    }
    let test = try TestLoader(service: { link(in: $0, ShortTimeoutDownloader()) })
    let (gate, asked) = (Gate(), RecordedValues<String>())
    let service = try LoopbackServer(.unix(test.folder + "/service.sock")) { request in
      asked.add(request.path)
      if !asked.all.contains("/v1/image") { return .response(200) }
      let head = Reply.head(200, [("Content-Length", "8000"), ("Content-Type", "image/jpeg")])
      let sent = request.path == "/healthz" ? nil : sent
      return Reply([.send(sent.map { head + Self.image.prefix($0) } ?? []), .wait(gate)])
    }
    let passing = Task { [time] in
      while !Task.isCancelled {
        if time.sleepers > 0 { time.pass(ServiceClient.checkInterval) }
        await Task.yield()
      }
    }
    defer { passing.cancel() }
    for path in ["/a", "/b"] {
      let image = try await test.loader.load(TestLoader.item(origin, original: path))
      #expect(image.bytes == Self.image)
      #expect(image.source == .network)
    }
    #expect(asked.all.count { $0 == "/v1/image" } == 1)
    let summary = try #require(test.loader.serviceSummary)
    #expect(summary.contains("/service.sock`: it stopped responding: "), "\(summary)")
    withExtendedLifetime(service) {}
  }

  @Test func `a slow service is waited for`() async throws {
    let test = try TestLoader()
    let service = HeldDownloader(holding: { $0.url.text.contains("/v1/image") })
    let link = link(in: test.folder, service)
    let load = try load(test, link)
    var questions: Int { service.asked.count { $0.hasSuffix("/healthz") } }
    for count in [2, 3, 4] {
      await time.pass(ServiceClient.checkInterval, when: 1)
      while questions < count { await Task.yield() }
    }
    service.release()
    #expect(try await load.value?.bytes == SampleImage.jpeg)
    #expect(service.asked.count == 5)
    #expect(link.summary?.hasPrefix("1 image loaded") == true)
  }

  @Test func `a service that shuts down may complete its running loads`() async throws {
    let test = try TestLoader()
    let ending = ShutdownDownloader()
    let link = link(in: test.folder, ending)
    let load = try load(test, link)
    for _ in 0..<3 { await time.pass(ServiceClient.checkInterval, when: 1) }
    while ending.refused.load(ordering: .relaxed) < 2 { await Task.yield() }
    ending.service.release()
    #expect(try await load.value?.bytes == SampleImage.jpeg)
  }

  @Test func `a fast response causes no extra check`() async throws {
    let test = try TestLoader()
    let service = HeldDownloader(holding: { _ in false })
    let link = link(in: test.folder, service)
    for _ in 0..<3 { #expect(try await load(test, link).value?.bytes == SampleImage.jpeg) }
    while time.sleepers > 0 { await Task.yield() }
    #expect(service.asked.count { $0.hasSuffix("/healthz") } == 1)
    #expect(service.asked.count == 4)
  }
}
