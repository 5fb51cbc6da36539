import FeedimgModel
import Testing

@testable import FeedimgHTTPCache

/// Images that are read from disk while a new response arrives.
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
    /// The time of the image in memory afterwards.
    var kept: Double?
    var step: @Sendable (MemoryCache) throws -> Void
  }

  static let news = [
    News(testDescription: "no news", kept: 1) { _ in },
    News(testDescription: "a new version", kept: 2) { $0.insert(try image(2), for: "a") },
    News(testDescription: "a new version that is too large to keep", kept: nil) { cache in
      cache.insert(
        MemoryCache.Image(
          role: .original,
          mediaType: "image/png",
          bytes: picture(2, size: 30_000),
          path: nil
        ),
        for: "a"
      )
    },
    // Clocks may be set back.
    News(testDescription: "a new version with an earlier time", kept: 0) {
      $0.insert(try image(0), for: "a")
    },
    News(testDescription: "it must no longer be stored", kept: nil) { $0.remove("a") },
    News(testDescription: "it is the same, and the disk has the new time", kept: nil) {
      $0.update("a", from: try version(1), to: try version(2))
    },
    News(testDescription: "of others", kept: 1) {
      $0.insert(try image(2), for: "b")
      $0.remove("b")
    },
    // It may be this image, as the cache does not know which images are being read.
    News(testDescription: "of an image that is not in memory", kept: nil) { $0.remove("c") },
    News(testDescription: "others read it too", kept: 1) { cache in
      let read = try image(1)
      _ = cache.fill("a") { read }
    },
    News(testDescription: "others read it too, and then there is a new version", kept: 2) { cache in
      let read = try image(1)
      _ = cache.fill("a") { read }
      cache.insert(try image(2), for: "a")
    },
  ]

  @Test(arguments: news)
  func `a read never replaces an image that arrived during it`(news: News) throws {
    let (first, later) = (try Self.image(1), try Self.image(3))
    let read = cache.fill("a") {
      #expect(throws: Never.self) { try news.step(cache) }
      return first
    }
    #expect(read == first)
    #expect(try cache["a"] == news.kept.map(Self.image))
    cache.remove("a")
    _ = cache.fill("a") { later }
    #expect(cache["a"] == later, "a change counts for the reads during which it came")
  }

  @Test func `a missing image removes no kept one`() throws {
    let first = try Self.image(1)
    cache.insert(first, for: "a")
    #expect(cache.fill("a") { nil } == nil)
    #expect(cache["a"] == first)
  }

  @Test func `a new response of a kept image is applied to it`() throws {
    let image = try Self.image(1)
    cache.insert(image, for: "a")
    cache.update("a", from: try Self.version(5), to: try Self.version(6))
    #expect(cache["a"] == image)
    cache.update("a", from: try Self.version(1), to: try Self.version(6))
    #expect(try cache["a"]?.response == Self.version(6))
    #expect(cache["a"]?.bytes == image.bytes)
    cache.update("b", from: try Self.version(1), to: try Self.version(6))
    #expect(cache["b"] == nil)
  }
}
