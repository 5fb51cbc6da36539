import FeedimgModel
import LoopbackServer
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// A 304 about another version than the stored one, for clients of `GET /v1/fetch` (RFC 9111 §4.3.4).
@Suite(.timeLimit(.minutes(10))) struct ForeignValidationTests {
  private let clock = TestClock()

  private struct Scene {
    let cache: ResponseCache
    let request: FetchRequest
    // They stop when they are released.
    let server: LoopbackServer
    let test: TestLoader

    func ask() async throws -> FetchResponse { try await cache.response(to: request) }
  }

  /// A stale response of a server, which then sends `whole` to requests for the whole response.
  private func scene(_ whole: Reply) async throws -> Scene {
    let (clock, start) = (clock, clock.now)
    let server = try LoopbackServer { request in
      guard clock.now > start else {
        return .response(200, [("Cache-Control", "max-age=10"), ("ETag", "\"1\"")], body: Array("old".utf8))
      }
      return request["If-None-Match"] == nil ? whole : .response(304, [("ETag", "\"2\"")])
    }
    let test = try TestLoader(.wifi, clock: { clock.now })
    let request = FetchRequest(
      try ImageURL(server.url("/page")),
      fields: HTTPFields(),
      priority: .visible
    )
    let scene = Scene(cache: ResponseCache(test.loader), request: request, server: server, test: test)
    while case .arriving = try await scene.ask().body { await Task.yield() }
    clock += 60
    return scene
  }

  @Test func `a second 304 is a failure that names the URL`() async throws {
    let scene = try await scene(.response(304, [("ETag", "\"2\"")]))
    let error = await #expect(throws: FetchError.self) { try await scene.ask() }
    #expect(error?.cause?.code == .malformed)
    #expect(error?.cause?.url == scene.request.url)
    #expect(scene.server.log.requests.count == 3)
  }

  @Test func `a new version that must not be stored removes the old one`() async throws {
    let new = Reply.response(200, [("Cache-Control", "no-store")], body: Array("new".utf8))
    let scene = try await scene(new)
    #expect(try await scene.ask().cacheStatus == "feedimg; fwd=stale; fwd-status=200")
    while try await scene.ask().cacheStatus.contains("stale") { await Task.yield() }
    #expect(try await scene.ask().cacheStatus == "feedimg; fwd=uri-miss; fwd-status=200")
  }
}
