import FeedimgModel
import FeedimgSettings
import LoopbackServer
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Validations of stale responses that clients have already received (RFC 5861 §3).
@Suite(.timeLimit(.minutes(10))) struct BackgroundValidationTests {
  @Test func `a validation in the background waits for visible images`() async throws {
    let clock = TestClock()
    let gate = Gate()
    let busy = try LoopbackServer { _ in .held(by: gate, then: .response(404)) }
    let server = try LoopbackServer { _ in
      .response(200, [("Cache-Control", "max-age=10, stale-while-revalidate=600")], body: Array("page".utf8))
    }
    let test = try TestLoader(.cellular, clock: { clock.now })
    try test.settings.set(.alwaysLoadOriginalsOnCellular, to: "yes")
    let cache = ResponseCache(test.loader)
    let request = FetchRequest(try ImageURL(server.url("/page")), fields: HTTPFields(), priority: .visible)
    while case .arriving = try await cache.response(to: request).body { await Task.yield() }
    clock += 60
    // Nothing is prefetched beside a visible image on a link that may be slow.
    let visible = Task { try await test.loader.load(try TestLoader.item(busy, original: "/busy")) }
    await busy.reaches { $0.requests.count == 1 }
    _ = try await cache.response(to: request)
    for _ in 0..<1000 { _ = await test.loader.resources.scheduler.isIdle }
    #expect(server.log.requests.count == 1)
    gate.open()
    await #expect(throws: LoadError.self) { try await visible.value }
    await server.reaches { $0.requests.count == 2 }
  }
}
