import FeedimgModel
import FeedimgTransfer
import LoopbackServer
import Testing

/// Shared connections on which nothing arrives any more.
@Suite(
  .timeLimit(.minutes(10)),
  .enabled(if: NginxServer.isAvailable, "there is no nginx, or no openssl, to speak HTTP/2")
)
struct DeadConnectionTests {
  private static let body = pattern(100_000)

  private let server: NginxServer
  private let proxy: StallingProxy
  private let downloader: CurlDownloader

  init() throws {
    server = try NginxServer(serving: Self.body)
    proxy = try StallingProxy(to: server.port)
    downloader = CurlDownloader(userAgent: "feedimg-tests/1", certificateFile: server.certificateFile)
  }

  /// A minute is longer than any machine needs, and shorter than the limit of a test.
  private func request(
    response: Duration = .seconds(60),
    stall: Duration = .seconds(60)
  ) throws -> DownloadRequest {
    DownloadRequest(
      url: try ImageURL("https://localhost:\(proxy.port)/"),
      responseTimeout: response,
      stallTimeout: stall
    )
  }

  static let limits: [(Int, response: Duration, stall: Duration, String)] = [
    (0, .milliseconds(50), .seconds(60), "no response within 50 ms"),
    (20_000, .seconds(60), .milliseconds(50), "no data for 50 ms"),
  ]

  @Test(arguments: limits)
  func `after a timeout new requests use a new connection`(
    _ brought: Int,
    _ response: Duration,
    _ stall: Duration,
    _ message: String
  ) async throws {
    _ = try await downloader.download(request(), into: Collector())
    proxy.hold(after: brought)
    let error = await downloader.failure(try request(response: response, stall: stall))
    #expect(error?.message.hasPrefix(message) == true)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          let collector = Collector()
          _ = try await downloader.download(request(), into: collector)
          #expect(collector.bytes == Self.body)
        }
      }
      try await group.waitForAll()
    }
    #expect(proxy.opened == 2)
  }

  @Test func `after the limit of the whole transfer new requests use the same connection`() async throws {
    _ = try await downloader.download(request(), into: Collector())
    proxy.hold(after: 20_000)
    var slow = try request()
    slow.totalTimeout = .milliseconds(50)
    #expect(await downloader.failure(slow)?.code == .timeout)
    proxy.release()
    _ = try await downloader.download(request(), into: Collector())
    #expect(proxy.opened == 1)
  }

  /// Why new requests do not use a connection.
  enum Reason: Sendable, CaseIterable {
    case silence
    case otherNetwork
  }

  @Test(arguments: Reason.allCases)
  func `running transfers stay on an old connection, and new ones use a new one`(
    _ reason: Reason
  )
    async throws
  {
    _ = try await downloader.download(request(), into: Collector())
    proxy.hold()
    let collector = Collector()
    let running = Task { try await downloader.download(request(), into: collector) }
    while collector.requests == 0 { await Task.yield() }
    switch reason {
    case .silence:
      #expect(await downloader.failure(try request(response: .milliseconds(50)))?.code == .timeout)
    case .otherNetwork: downloader.forgetConnections()
    }
    for _ in 0..<2 { _ = try await downloader.download(request(), into: Collector()) }
    #expect(proxy.opened == 2)
    #expect(collector.heads.isEmpty && proxy.closedByClient == 0)
    proxy.release()
    _ = try await running.value
    #expect(collector.bytes == Self.body)
    while proxy.closedByClient == 0 { await Task.yield() }
    #expect(proxy.opened == 2)
  }
}
