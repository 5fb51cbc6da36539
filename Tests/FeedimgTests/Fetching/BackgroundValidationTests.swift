import FeedimgModel
import FeedimgSettings
import LoopbackServer
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Validations of stale responses that clients have already received (RFC 5861 §3).
@Suite(.timeLimit(.minutes(10))) struct BackgroundValidationTests {
  @Test func `a validation in the background has the lowest priority`() async throws {
    let clock = TestClock()
    let gate = Gate()
    let fields = [("Cache-Control", "max-age=10, stale-while-revalidate=600"), ("ETag", "\"1\"")]
    let server = try LoopbackServer { request in
      request["If-None-Match"] == nil
        ? .response(200, fields, body: Array("page".utf8))
        : .held(by: gate, then: .response(304, fields))
    }
    let test = try TestLoader(.wifi, clock: { clock.now })
    let cache = ResponseCache(test.loader)
    let request = FetchRequest(try ImageURL(server.url("/page")), fields: HTTPFields(), priority: .visible)
    while case .arriving = try await cache.response(to: request).body { await Task.yield() }
    clock += 60
    _ = try await cache.response(to: request)
    await server.reaches { $0.requests.count == 2 }
    #expect(test.loader.resources.loads.transfers.present.map(\.priority) == [.prefetch])
    gate.open()
  }
}
