import FeedimgModel
import Synchronization
import Testing

@testable import FeedimgHTTPCache

@Suite struct MemoryCacheTests {
  func image(_ size: Int) -> MemoryCache.Image {
    MemoryCache.Image(
      role: .original,
      mediaType: "image/png",
      bytes: picture(size, size: size - MemoryCache.overhead),
      path: nil
    )
  }

  @Test func `a stored image is found until it is removed`() {
    let cache = MemoryCache(limit: ByteCount(10_000))
    cache.insert(image(1000), for: "a")
    #expect(cache["a"] == image(1000))
    #expect(cache["b"] == nil)
    cache.insert(image(2000), for: "a")
    #expect(cache["a"] == image(2000))
    #expect(cache.encoded.size == ByteCount(2000))
    cache.remove("a")
    cache.remove("a")
    #expect(cache["a"] == nil)
    #expect(cache.encoded.size == ByteCount(0))
  }

  @Test func `the least recently used images are evicted first`() {
    let cache = MemoryCache(limit: ByteCount(4000))
    for key in ["a", "b", "c", "d"] { cache.insert(image(1000), for: key) }
    _ = cache["a"]
    cache.insert(image(1000), for: "e")
    #expect(["a", "b", "c", "d", "e"].map { cache[$0] != nil } == [true, false, true, true, true])
    #expect(cache.encoded.size == ByteCount(4000))
  }

  @Test func `an image above a quarter of the limit is not kept, nor is its predecessor`() {
    let cache = MemoryCache(limit: ByteCount(4000))
    cache.insert(image(900), for: "a")
    cache.insert(image(900), for: "b")
    cache.insert(image(1001), for: "a")
    #expect(cache["a"] == nil)
    #expect(cache["b"] != nil)
  }

  @Test func `a lower limit and memory pressure take effect at once`() {
    let cache = MemoryCache(limit: ByteCount(8000))
    for key in ["a", "b", "c", "d"] { cache.insert(image(1000), for: key) }
    cache.setLimits(MemoryLimits(total: ByteCount(2500), isDecoding: false))
    #expect(cache.encoded.count == 2)
    cache.setLimits(MemoryLimits(total: ByteCount(1500), isDecoding: false))
    #expect(cache.encoded.count == 1)
    #expect(cache["d"] != nil)
    cache.setLimits(MemoryLimits(total: ByteCount(0), isDecoding: false))
    #expect(cache.encoded.count == 0)
  }

  @Test func `scrolling through new images evicts none that were shown repeatedly`() {
    let cache = MemoryCache(limit: ByteCount(20_000))
    for number in 0..<10 { cache.insert(image(1000), for: "seen \(number)") }
    for number in 0..<10 { _ = cache["seen \(number)"] }
    for number in 0..<1000 { cache.insert(image(1000), for: "new \(number)") }
    #expect((0..<10).allSatisfy { cache["seen \($0)"] != nil })
    #expect(cache.encoded.size == ByteCount(20_000))
  }

  @Test func `images shown repeatedly long ago make room for those shown repeatedly now`() {
    let cache = MemoryCache(limit: ByteCount(10_000))
    for number in 0..<100 {
      cache.insert(image(1000), for: "\(number)")
      _ = cache["\(number)"]
    }
    #expect((90..<100).allSatisfy { cache["\($0)"] != nil })
    #expect(cache["80"] == nil)
  }

  @Test func `a new version of an image keeps its place`() {
    let cache = MemoryCache(limit: ByteCount(10_000))
    cache.insert(image(1000), for: "a")
    _ = cache["a"]
    cache.insert(image(1200), for: "a")
    for number in 0..<100 { cache.insert(image(1000), for: "\(number)") }
    #expect(cache["a"] == image(1200))
  }

  @Test func `costs and counts are correct after many changes`() {
    var store = BoundedStore<String, Int>(limit: ByteCount(1000))
    var costs: [String: Int] = [:]
    var generator = SeededGenerator(seed: 7)
    for step in 0..<20_000 {
      let key = "\(Int.random(in: 0..<40, using: &generator))"
      switch Int.random(in: 0..<3, using: &generator) {
      case 0:
        let cost = Int.random(in: 0...250, using: &generator)
        // The value contains its key, so that the test can identify evicted entries.
        store.insert(step << 8 | (Int(key) ?? 0), for: key, cost: cost)
        for value in store.takeRemoved() { costs["\(value & 255)"] = nil }
        costs[key] = cost
      case 1:
        let value = store.use(key)
        if (value != nil) != (costs[key] != nil) { Issue.record("\(key) at \(step)") }
        if let value, "\(value & 255)" != key { Issue.record("the value of another key at \(step)") }
      default:
        store.remove(key)
        #expect(store.takeRemoved().count == (costs[key] == nil ? 0 : 1))
        costs[key] = nil
      }
      let total = costs.values.reduce(0, +)
      if store.cost != total || total > 1000 || store.count != costs.count { Issue.record("at \(step)") }
    }
    store.shrink(to: 0)
    #expect(store.takeRemoved().count == costs.count)
    #expect(store.cost == 0)
  }

  func bitmap(_ value: UInt8) throws -> Bitmap {
    let bytes = [UInt8](repeating: value, count: 1024)
    return try #require(
      Bitmap(size: PixelSize(width: 16, height: 16), format: .rgba, isOpaque: true, bytes: bytes)
    )
  }

  func key(_ url: String, _ side: Double) -> DecodedKey {
    DecodedKey(url: url, size: DisplaySize(width: side, height: side), format: .rgba)
  }

  @Test func `decoded images are found by their size and counted apart`() throws {
    let cache = MemoryCache { MemoryLimits(encoded: ByteCount(8000), decoded: ByteCount(8000)) }
    let encoded = image(1000)
    cache.insert(encoded, for: "a")
    cache.insert(try bitmap(1), for: key("a", 16), of: encoded.bytes)
    cache.insert(try bitmap(2), for: key("a", 32), of: encoded.bytes)
    #expect(cache[key("a", 16)]?.bytes.first == 1)
    #expect(cache[key("a", 32)]?.bytes.first == 2)
    #expect(cache[key("a", 64)] == nil)
    #expect(cache.encoded == .init(count: 1, size: ByteCount(1000), limit: ByteCount(8000)))
    #expect(cache.decoded == .init(count: 2, size: ByteCount(2 * 1536), limit: ByteCount(8000)))
  }

  @Test func `the pixels of an image are removed with it, and those of an older version are never kept`()
    throws
  {
    let cache = MemoryCache { MemoryLimits(encoded: ByteCount(8000), decoded: ByteCount(8000)) }
    let (older, newer) = (image(1000), image(1200))
    cache.insert(older, for: "a")
    cache.insert(try bitmap(1), for: key("a", 16), of: older.bytes)
    cache.insert(older, for: "a")
    #expect(cache[key("a", 16)] != nil, "the same image again")
    cache.insert(image(1000), for: "a")
    #expect(cache[key("a", 16)] != nil, "the same bytes, as read from disk again")
    cache.insert(newer, for: "a")
    #expect(cache[key("a", 16)] == nil)
    cache.insert(try bitmap(1), for: key("a", 16), of: older.bytes)
    #expect(cache[key("a", 16)] == nil, "decoding took longer than fetching")
    cache.insert(try bitmap(2), for: key("a", 16), of: newer.bytes)
    #expect(cache[key("a", 16)]?.bytes.first == 2)
    cache.remove("a")
    #expect(cache[key("a", 16)] == nil)
    #expect(cache.decoded.size == ByteCount(0))
  }

  @Test func `the limits are read when the first image comes, not before`() {
    let asked = Mutex(0)
    let cache = MemoryCache {
      asked.withLock { $0 += 1 }
      return MemoryLimits(encoded: ByteCount(8000), decoded: ByteCount(0))
    }
    #expect(cache["a"] == nil)
    #expect(asked.withLock(\.self) == 0)
    cache.insert(image(1000), for: "a")
    cache.insert(image(1000), for: "b")
    #expect(cache.encoded.count == 2)
    #expect(asked.withLock(\.self) == 1)
  }
}
