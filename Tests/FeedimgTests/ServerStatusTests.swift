import LoopbackServer
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// How unsuccessful responses are described.
@Suite struct ServerStatusTests {
  @Test func `a status without a registered phrase is printed as a number`() async throws {
    let server = try LoopbackServer { _ in .response(418) }
    let test = try TestLoader()
    let item = try TestLoader.item(server, original: "/a.jpg")
    let error = await #expect(throws: LoadError.self) { try await test.loader.load(item) }
    #expect(error?.message == "the server responded with 418")
  }

  @Test(arguments: [("7", 7), ("Fri, 07 Aug 2026 10:00:30 GMT", 30), ("-1", nil), ("+5", nil)])
  func `the wait that a server asks for is reported`(_ field: String, _ seconds: Int?) async throws {
    let fields = [("Date", "Fri, 07 Aug 2026 10:00:00 GMT"), ("Retry-After", field)]
    let server = try LoopbackServer { _ in .response(503, fields) }
    let test = try TestLoader()
    let item = try TestLoader.item(server, original: "/a.jpg")
    let error = await #expect(throws: LoadError.self) { try await test.loader.load(item) }
    #expect(error?.retryAfter == seconds)
  }
}
