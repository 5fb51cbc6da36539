import FeedimgModel
import LoopbackServer
import Testing

@testable import FeedimgTransfer

/// Connections, cancelling and stopping.
@Suite(.timeLimit(.minutes(10)))
struct LifetimeTests {
  private let downloader = CurlDownloader(userAgent: "feedimg-tests/1")

  @Test func `a connection is reused`() async throws {
    let server = try LoopbackServer { _ in .response(body: pattern(1000)) }
    for number in 0..<20 {
      let request = DownloadRequest.patient(try ImageURL(server.url("/\(number)")))
      _ = try await downloader.download(request, into: Collector())
    }
    #expect(server.log.opened == 1)
    #expect(server.log.requests.count == 20)
  }

  @Test func `after a network change, idle connections are closed and not reused`() async throws {
    let server = try LoopbackServer { _ in .response() }
    let request = DownloadRequest.patient(try ImageURL(server.url("/")))
    downloader.forgetConnections()
    _ = try await downloader.download(request, into: Collector())
    downloader.forgetConnections()
    await server.reaches { $0.closedByClient == 1 }
    _ = try await downloader.download(request, into: Collector())
    _ = try await downloader.download(request, into: Collector())
    #expect(server.log.opened == 2)
  }

  @Test func `after a network change, running transfers continue and their connections close afterwards`()
    async throws
  {
    let gate = Gate()
    let server = try LoopbackServer { _ in .stalled(pattern(1000), after: 10, until: gate) }
    let request = DownloadRequest.patient(try ImageURL(server.url("/")))
    let collector = Collector()
    let task = Task { await downloader.failure(request, into: collector) }
    await server.reaches { $0.requests.count == 1 }
    downloader.forgetConnections()
    gate.open()
    #expect(await task.value == nil)
    #expect(collector.bytes == pattern(1000))
    await server.reaches { $0.closedByClient == 1 }
  }

  @Test func `fifty transfers run at once without mixing their bytes`() async throws {
    let gate = Gate()
    let server = try LoopbackServer {
      .held(by: gate, then: .response(body: Array($0.path.utf8) + pattern(30_000)))
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<50 {
        group.addTask {
          let collector = Collector()
          let request = DownloadRequest.patient(try ImageURL(server.url("/\(number)")))
          _ = try await downloader.download(request, into: collector)
          #expect(collector.bytes == Array("/\(number)".utf8) + pattern(30_000))
        }
      }
      await server.reaches { $0.requests.count == 50 }
      gate.open()
      try await group.waitForAll()
    }
  }

  @Test func `the receiver is called on the transfer thread`() async throws {
    let server = try LoopbackServer { _ in .response(body: [1]) }
    let names = ThreadNames()
    _ = try await downloader.download(.patient(try ImageURL(server.url("/"))), into: names)
    #expect(names.names == ["feedimg-curl", "feedimg-curl"])
  }

  @Test(arguments: [Stage.waiting, .receiving])
  func `cancelling a task closes its connection`(stage: Stage) async throws {
    let gate = Gate()
    let reply = stage == .waiting ? Reply.held(by: gate) : .stalled(pattern(100), after: 10, until: gate)
    let server = try LoopbackServer { _ in reply }
    let request = DownloadRequest.patient(try ImageURL(server.url("/")))
    let task = Task { await downloader.failure(request) }
    await server.reaches { $0.requests.count == 1 }
    task.cancel()
    #expect(await task.value == LoadError(.cancelled, url: request.url, message: "cancelled"))
    await server.reaches { $0.closedByClient == 1 }
  }

  /// The progress of a transfer.
  enum Stage: Sendable {
    case waiting
    case receiving
  }

  @Test func `cancelling one transfer does not affect the others`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .stalled(pattern(1000), after: 10, until: gate) }
    let first = DownloadRequest.patient(try ImageURL(server.url("/1")))
    let second = DownloadRequest.patient(try ImageURL(server.url("/2")))
    let collector = Collector()
    let leaving = Task { await downloader.failure(first) }
    let staying = Task { await downloader.failure(second, into: collector) }
    await server.reaches { $0.requests.count == 2 }
    leaving.cancel()
    #expect(await leaving.value?.code == .cancelled)
    gate.open()
    #expect(await staying.value == nil)
    #expect(collector.bytes == pattern(1000))
  }

  @Test func `a task that was cancelled before sends nothing`() async throws {
    let server = try LoopbackServer { _ in .response() }
    let request = DownloadRequest.patient(try ImageURL(server.url("/")))
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      return await downloader.failure(request)
    }
    task.cancel()
    #expect(await task.value?.code == .cancelled)
    #expect(server.log.opened == 0)
  }

  @Test(arguments: [-1, 0, 100_000])
  func `a receiver that throws stops the transfer`(acceptedBytes: Int) async throws {
    let server = try LoopbackServer { _ in .endlessBody }
    let refusal = LoadError(.notAnImage, message: "the body is no image")
    let collector = Collector(refusing: refusal, after: acceptedBytes)
    let request = DownloadRequest.patient(try ImageURL(server.url("/")))
    let error = await downloader.failure(request, into: collector)
    #expect(error?.code == .notAnImage)
    #expect(error?.message == "the body is no image")
    #expect(error?.url == request.url)
    await server.reaches { $0.closedByClient == 1 }
  }

  @Test func `a released downloader closes its connections`() async throws {
    let server = try LoopbackServer { _ in .response() }
    let request = DownloadRequest.patient(try ImageURL(server.url("/")))
    _ = try await CurlDownloader(userAgent: "feedimg-tests/1").download(request, into: Collector())
    await server.reaches { $0.closedByClient == 1 }
  }

  @Test func `without libcurl every transfer fails and names the package to install`() async throws {
    let downloader = CurlDownloader(
      userAgent: "feedimg-tests/1",
      certificateFile: nil,
      libraryNames: ["libno-such-thing.so.4"]
    )
    let request = DownloadRequest(url: try ImageURL("http://127.0.0.1:9/"))
    for _ in 0..<2 {
      let error = await downloader.failure(request)
      #expect(error?.code == .unavailable)
      #expect(
        error?.message.hasPrefix("cannot open libcurl; install the Debian package libcurl4") == true
      )
    }
  }
}
