import LoopbackServer
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Negative responses of servers, and how long they are remembered.
@Suite struct NegativeResponseTests {
  let time = ManualTime()

  private func loader() throws -> TestLoader { try TestLoader(clock: { 1_800_000_000 }, time: time.time) }

  private func item(_ origin: PictureOrigin) throws -> FeedItem {
    try TestLoader.item(origin.server, original: "/a.jpg")
  }

  @Test(arguments: [
    ([], 300), ([("Cache-Control", "max-age=60")], 60), ([("Cache-Control", "max-age=9999")], 3600),
  ])
  func `a missing image is requested again only after a while`(
    _ fields: [(String, String)],
    _ seconds: Int
  ) async throws {
    let origin = try PictureOrigin(SampleImage.jpeg)
    let test = try loader()
    origin.respond(always: .response(404, fields))
    for _ in 0..<5 {
      let error = await #expect(throws: LoadError.self) { try await test.loader.load(item(origin)) }
      #expect(error?.status == 404)
    }
    time.pass(.seconds(seconds - 1))
    await #expect(throws: LoadError.self) { try await test.loader.load(item(origin)) }
    #expect(origin.requests.count == 1)
    origin.respond(always: nil)
    time.pass(.seconds(2))
    #expect(try await test.loader.load(item(origin)).bytes == SampleImage.jpeg)
    #expect(origin.requests.count == 2)
  }

  @Test(arguments: ["no-store", "no-cache", "max-age=0"])
  func `a negative response with no-store is not remembered`(_ directive: String) async throws {
    let origin = try PictureOrigin(SampleImage.jpeg)
    let test = try loader()
    origin.respond(always: .response(404, [("Cache-Control", directive)]))
    for _ in 0..<3 { await #expect(throws: LoadError.self) { try await test.loader.load(item(origin)) } }
    #expect(origin.requests.count == 3)
  }

  @Test func `a reload ignores negative responses`() async throws {
    let origin = try PictureOrigin(SampleImage.jpeg)
    let test = try loader()
    origin.respond(always: .response(404))
    await #expect(throws: LoadError.self) { try await test.loader.load(item(origin)) }
    origin.respond(always: nil)
    #expect(try await test.loader.reload(item(origin)).bytes == SampleImage.jpeg)
  }

  @Test func `the thumbnail replaces an original that is remembered as missing`() async throws {
    let server = try LoopbackServer {
      let fields = [("Cache-Control", "max-age=60")]
      return $0.target == "/s.jpg" ? .response(200, fields, body: SampleImage.jpeg) : .response(410)
    }
    let test = try loader()
    let item = try TestLoader.item(server, original: "/a.jpg", thumbnail: "/s.jpg")
    for _ in 0..<3 { #expect(try await test.loader.load(item).variant.role == .thumbnail) }
    #expect(server.log.requests.count == 2)
  }
}
