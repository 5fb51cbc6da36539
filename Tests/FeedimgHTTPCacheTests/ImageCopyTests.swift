import FeedimgModel
import Testing

@testable import FeedimgHTTPCache

/// Copies of images in another form, within the budget of the images.
@Suite struct ImageCopyTests {
  /// Referenced by the cache only.
  private final class Form: Sendable {}

  private let cache = MemoryCache { MemoryLimits(encoded: ByteCount(16_000), decoded: ByteCount(0)) }

  private func insert(_ key: String, _ size: Int = 1000) {
    let bytes = picture(size, size: size - MemoryCache.overhead)
    cache.insert(
      MemoryCache.Image(role: .original, mediaType: "image/png", bytes: bytes, path: nil),
      for: key
    )
  }

  /// Stores a copy without another reference to it.
  private func copy(_ key: String, cost: Int = 1000) throws -> Bool {
    cache.keep(Form(), cost: cost, of: try #require(cache[key]).bytes, for: key)
  }

  private func hasCopy(_ key: String) -> Bool { cache.withCopy(key)?.copy is Form }

  @Test func `a copy is found with its image, and counts beside it`() throws {
    insert("a")
    let form = Form()
    let bytes = try #require(cache["a"]).bytes
    #expect(cache.withCopy("a")?.copy == nil)
    #expect(cache.keep(form, cost: 1500, of: bytes, for: "a"))
    #expect(cache.withCopy("a")?.copy === form)
    #expect(cache.withCopy("a")?.image.bytes == bytes)
    #expect(cache.encoded.size == ByteCount(2500))
    #expect(cache.copies == (1, ByteCount(1500)))
    #expect(!cache.keep(Form(), cost: 1, of: bytes, for: "a"), "one is enough")
    #expect(cache.withCopy("b") == nil)
  }

  /// Each of them ends the copy of `a`.
  private static let ends: [(name: String, step: @Sendable (ImageCopyTests) -> Void)] = [
    ("the image is removed", { $0.cache.remove("a") }), ("a new version is stored", { $0.insert("a", 900) }),
    ("memory is short", { $0.cache.keep(.encoded) }), ("memory is very short", { $0.cache.keep(.none) }),
    ("the limit is zero", { $0.cache.setLimits(MemoryLimits(total: ByteCount(0), isDecoding: false)) }),
    ("the limit is small", { $0.cache.setLimits(MemoryLimits(total: ByteCount(100), isDecoding: false)) }),
    ("no client is connected", { $0.cache.removeCopies() }),
    (
      "other images are used",
      { test in
        for key in 0..<20 {
          for _ in 0..<2 {
            test.insert("\(key)")
            _ = test.cache["\(key)"]
          }
        }
      }
    ),
  ]

  @Test(arguments: ends.indices) func `a copy ends when`(_ index: Int) throws {
    let (name, step) = Self.ends[index]
    insert("a")
    let bytes = try #require(cache["a"]).bytes
    weak var form: Form?
    do {
      let made = Form()
      form = made
      #expect(cache.keep(made, cost: 1000, of: bytes, for: "a"))
    }
    #expect(form != nil)
    step(self)
    #expect(form == nil, "\(name)")
    #expect(!hasCopy("a"), "\(name)")
    #expect(cache.copies == (0, ByteCount(0)), "\(name)")
    #expect(cache.encoded.size.bytes <= 16_000 && cache.encoded.size.bytes % 100 == 0, "\(name)")
  }

  @Test func `without an image of the same version no copy is kept`() throws {
    insert("a")
    let old = try #require(cache["a"]).bytes
    insert("a", 2000)
    #expect(!cache.keep(Form(), cost: 1000, of: old, for: "a"))
    #expect(!cache.keep(Form(), cost: 1000, of: old, for: "b"))
    // The same bytes at another address may belong to another version.
    let now = try #require(cache["a"]).bytes
    #expect(!cache.keep(Form(), cost: 1000, of: now.map { $0 }, for: "a"))
    #expect(cache.keep(Form(), cost: 1000, of: now, for: "a"))
  }

  @Test func `a copy evicts unused images, but never its own`() throws {
    for key in 0..<16 { insert("\(key)") }
    #expect(try copy("3", cost: 2000))
    #expect(hasCopy("3"))
    #expect(cache.encoded.count == 14)
    #expect((cache["0"] == nil, cache["1"] == nil) == (true, true))
    #expect(cache.encoded.size == ByteCount(16_000))
  }

  @Test func `copies take a quarter at most, and the most recently used stay`() throws {
    for key in ["a", "b", "c"] {
      insert(key)
      #expect(try copy(key, cost: 1500) == true)
      _ = cache["a"]
    }
    #expect(["a", "b", "c"].map(hasCopy) == [true, false, true])
    #expect(cache.copies == (2, ByteCount(3000)))
    #expect(cache.encoded.size == ByteCount(6000))
    #expect(try !copy("b", cost: 4001), "one copy needs more than a quarter")
    #expect(cache.copies.count == 2)
  }

  @Test func `the number of copies is limited, however small they are`() throws {
    let count = EncodedImages.maximumCopyCount
    cache.setLimits(MemoryLimits(encoded: ByteCount(1000 * (count + 10)), decoded: ByteCount(0)))
    for key in 0..<count + 2 {
      insert("\(key)")
      #expect(try copy("\(key)", cost: 1))
    }
    #expect(cache.copies == (count, ByteCount(count)))
    #expect(["0", "1", "2"].map(hasCopy) == [false, false, true])
  }

  @Test func `no copy is kept while memory is short, and copies are allowed again later`() throws {
    insert("a")
    cache.keep(.encoded)
    #expect(try !copy("a"))
    #expect(cache["a"] != nil)
    cache.keep(.all)
    #expect(try copy("a"))
  }
}
