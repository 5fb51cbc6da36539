import LoopbackServer
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Resumed loads that receive a response other than the requested range.
@Suite(.timeLimit(.minutes(10))) struct UnexpectedResponseTests {
  private static let picture = ResumingLoadTests.picture
  private static let strong = ResumingLoadTests.strong
  private static let rest = "bytes=120000-"

  /// A server that interrupts its first response, and responds to range requests with something else.
  private static func server(
    respondingToRange reply: @escaping @Sendable (Request) -> Reply
  ) throws -> LoopbackServer {
    let isBroken = BrokenOnce()
    return try LoopbackServer { request in
      if request.rangeStart != nil { return reply(request) }
      return isBroken.next()
        ? .truncated(picture, after: 120_000, strong) : .response(200, strong, body: picture)
    }
  }

  /// Loads the server's image again after an interrupted first load.
  private func secondLoad(_ server: LoopbackServer) async throws -> LoadedImage {
    let test = try TestLoader()
    let item = try TestLoader.item(server, original: "/a.jpg")
    await #expect(throws: LoadError.self) { try await test.loader.load(item) }
    return try await test.loader.load(item)
  }

  /// Each status, whether it carries the complete image, and the expected number of requests.
  static let others = [
    (304, false, 3), (204, false, 3), (302, false, 3), (203, true, 2), (200, true, 2),
  ]

  @Test(arguments: others)
  func `a success other than 206 restarts the image, once`(
    _ status: Int,
    _ isWhole: Bool,
    _ asked: Int
  ) async throws {
    let server = try Self.server { _ in .response(status, Self.strong, body: isWhole ? Self.picture : []) }
    #expect(try await secondLoad(server).bytes == Self.picture)
    #expect(server.log.requests.map { $0["Range"] } == Array([nil, Self.rest, nil].prefix(asked)))
  }

  @Test func `the rest may come from a redirect on the same server`() async throws {
    let place = ("Content-Range", "bytes 120000-199999/200000")
    let server = try Self.server { request in
      guard request.path == "/b.jpg" else { return .redirect(to: "/b.jpg") }
      return .response(206, [("ETag", "\"1\""), place], body: Array(Self.picture[120_000...]))
    }
    #expect(try await secondLoad(server).bytes == Self.picture)
    #expect(server.log.requests.map(\.path) == ["/a.jpg", "/a.jpg", "/b.jpg"])
    #expect(server.log.requests.map { $0["If-Range"] } == [nil, "\"1\"", "\"1\""])
  }

  @Test func `the same tag from another server may belong to another image`() async throws {
    let elsewhere = try PictureOrigin(PictureOrigin.picture(2, size: 200_000), Self.strong)
    let server = try Self.server { _ in .redirect(to: elsewhere.server.url("/b.jpg")) }
    #expect(try await secondLoad(server).bytes == Self.picture)
    #expect(server.log.requests.map { $0["Range"] } == [nil, Self.rest, nil])
    #expect(elsewhere.requests.count == 1)
  }
}
