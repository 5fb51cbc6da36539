import FeedimgModel
import Testing

@testable import FeedimgCache

/// Images that are read from disk while there is news of them.
@Suite struct OpenReadTests {
  private let cache = MemoryCache(limit: ByteCount(100_000))

  private static func version(_ time: Double) throws -> StoredResponse {
    try response("ETag: \"1\"", requestedAt: time, respondedAt: time)
  }

  private static func image(_ time: Double) throws -> MemoryCache.Image {
    MemoryCache.Image(
      role: .original,
      mediaType: "image/png",
      bytes: picture(Int(time)),
      path: nil,
      response: try version(time)
    )
  }

  struct News: Sendable, CustomTestStringConvertible {
    var testDescription: String
    /// The time of the image that memory has afterwards.
    var kept: Double?
    var step: @Sendable (MemoryCache) throws -> Void
  }

  static let news = [
    News(testDescription: "no news", kept: 1) { _ in },
    News(testDescription: "a new version", kept: 2) { $0.insert(try image(2), for: "a") },
    // Clocks may be set back.
    News(testDescription: "a new version of an earlier time", kept: 0) { $0.insert(try image(0), for: "a") },
    News(testDescription: "it must not be kept any more", kept: nil) { $0.remove("a") },
    News(testDescription: "it is the same, of which the disk knows", kept: nil) {
      $0.update("a", from: try version(1), to: try version(2))
    },
    News(testDescription: "of others", kept: 1) {
      $0.insert(try image(2), for: "b")
      $0.remove("c")
    },
    News(testDescription: "others read it as well", kept: 1) { cache in
      let read = try image(1)
      _ = cache.fill("a") { read }
    },
    News(testDescription: "others read it as well, and then there is a new version", kept: 2) { cache in
      let read = try image(1)
      _ = cache.fill("a") { read }
      cache.insert(try image(2), for: "a")
    },
  ]

  @Test(arguments: news)
  func `what is read does not take the place of what came while it was read`(news: News) throws {
    let (first, later) = (try Self.image(1), try Self.image(3))
    let read = cache.fill("a") {
      #expect(throws: Never.self) { try news.step(cache) }
      return first
    }
    #expect(read == first)
    #expect(try cache["a"] == news.kept.map(Self.image))
    cache.remove("a")
    _ = cache.fill("a") { later }
    #expect(cache["a"] == later, "news counts for the reads that it came in")
  }

  @Test func `what is not found or not wanted is not kept, nor does it end what is`() throws {
    let (first, second) = (try Self.image(1), try Self.image(2))
    cache.insert(first, for: "a")
    #expect(cache.fill("a") { nil } == nil)
    #expect(cache.fill("a", ifWanted: { false }, from: { second }) == second)
    #expect(cache["a"] == first)
  }

  @Test func `news of a response is taken where it is about what is kept, which keeps its copy`() throws {
    final class Form: Sendable {}
    let image = try Self.image(1)
    cache.insert(image, for: "a")
    #expect(cache.keep(Form(), cost: 100, of: image.bytes, for: "a"))
    cache.update("a", from: try Self.version(5), to: try Self.version(6))
    #expect(cache["a"] == image)
    cache.update("a", from: try Self.version(1), to: try Self.version(6))
    #expect(try cache["a"]?.response == Self.version(6))
    #expect(cache["a"]?.bytes == image.bytes)
    #expect(cache.withCopy("a")?.copy is Form)
    cache.update("b", from: try Self.version(1), to: try Self.version(6))
    #expect(cache["b"] == nil)
  }
}
