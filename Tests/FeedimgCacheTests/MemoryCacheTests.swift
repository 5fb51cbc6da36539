import FeedimgModel
import Testing

@testable import FeedimgCache

@Suite struct MemoryCacheTests {
  func image(_ size: Int) -> MemoryCache.Image {
    MemoryCache.Image(
      role: .original,
      mediaType: "image/png",
      bytes: picture(size, size: size - MemoryCache.overhead),
      path: nil
    )
  }

  @Test func `what was kept is found, until it is removed`() {
    let cache = MemoryCache(limit: ByteCount(10_000))
    cache.insert(image(1000), for: "a")
    #expect(cache["a"] == image(1000))
    #expect(cache["b"] == nil)
    cache.insert(image(2000), for: "a")
    #expect(cache["a"] == image(2000))
    #expect(cache.size == ByteCount(2000))
    cache.remove("a")
    cache.remove("a")
    #expect(cache["a"] == nil)
    #expect(cache.size == ByteCount(0))
  }

  @Test func `the images unused for longest give way`() {
    let cache = MemoryCache(limit: ByteCount(4000))
    for key in ["a", "b", "c", "d"] { cache.insert(image(1000), for: key) }
    _ = cache["a"]
    cache.insert(image(1000), for: "e")
    #expect(["a", "b", "c", "d", "e"].map { cache[$0] != nil } == [true, false, true, true, true])
    #expect(cache.size == ByteCount(4000))
  }

  @Test func `an image that would take more than a quarter is not kept, nor is its predecessor`() {
    let cache = MemoryCache(limit: ByteCount(4000))
    cache.insert(image(900), for: "a")
    cache.insert(image(900), for: "b")
    cache.insert(image(1001), for: "a")
    #expect(cache["a"] == nil)
    #expect(cache["b"] != nil)
  }

  @Test func `a lower limit and pressure take effect at once`() {
    let cache = MemoryCache(limit: ByteCount(8000))
    for key in ["a", "b", "c", "d"] { cache.insert(image(1000), for: key) }
    cache.shrink(to: ByteCount(2500))
    #expect(cache.count == 2)
    cache.setLimit(ByteCount(1500))
    #expect(cache.count == 1)
    #expect(cache["d"] != nil)
    cache.setLimit(ByteCount(0))
    #expect(cache.count == 0)
  }

  @Test func `order and budget stay right over many changes`() {
    var store = BoundedStore<Int>(limit: ByteCount(1000))
    var model: [(key: String, cost: Int)] = []
    var generator = SeededGenerator(seed: 7)
    for step in 0..<20_000 {
      let key = "\(Int.random(in: 0..<40, using: &generator))"
      switch Int.random(in: 0..<3, using: &generator) {
      case 0:
        let cost = Int.random(in: 0...250, using: &generator)
        _ = store.insert(step, for: key, cost: cost)
        model.removeAll { $0.key == key }
        while model.reduce(0, { $0 + $1.cost }) + cost > 1000 { model.removeFirst() }
        model.append((key, cost))
      case 1:
        let isThere = store.use(key) != nil
        #expect(isThere == model.contains { $0.key == key })
        if let place = model.firstIndex(where: { $0.key == key }) { model.append(model.remove(at: place)) }
      default:
        _ = store.remove(key)
        model.removeAll { $0.key == key }
      }
      #expect(store.cost == model.reduce(0) { $0 + $1.cost })
      #expect(store.count == model.count)
    }
  }
}
