import FeedimgHTTPCache
import FeedimgModel
import Glibc
import Testing

@Suite struct LimitsTests {
  let folder: TestFolder
  let clock = TestClock()

  init() throws { folder = try TestFolder() }

  func makeCache(originals: Int = 1 << 20, thumbnails: Int = 1 << 20, days: Int = 7) -> DiskCache {
    let limits = CacheLimits(
      originals: ByteCount(originals),
      thumbnails: ByteCount(thumbnails),
      unusedDays: days
    )
    return DiskCache(folder, limits: limits, clock: clock)
  }

  /// The size of the bodies on disk.
  var bytesOnDisk: Int { folder.bodies.reduce(0) { $0 + content(of: "\(folder.cache)/\($1)").count } }

  @Test func `the limits hold after every stored image`() throws {
    let cache = makeCache(originals: 10_000, thumbnails: 5_000)
    for number in 0..<100 {
      clock += 1
      let role: ImageVariant.Role = number.isMultiple(of: 2) ? .original : .thumbnail
      try cache.store("\(number)", picture(number, size: 300 + number * 7), role: role)
      let info = try cache.info()
      #expect(info.originals.size.bytes <= 10_000)
      #expect(info.thumbnails.size.bytes <= 5_000)
      #expect(bytesOnDisk == info.originals.size.bytes + info.thumbnails.size.bytes)
    }
    #expect(cache.contains(["98", "99"]) == [true, true])
  }

  @Test func `many originals evict no thumbnails`() throws {
    let cache = makeCache(originals: 10_000, thumbnails: 5_000)
    for number in 0..<5 { try cache.store("t\(number)", picture(number), role: .thumbnail) }
    for number in 0..<50 { try cache.store("o\(number)", picture(number, size: 2500)) }
    #expect(cache.contains((0..<5).map { "t\($0)" }).allSatisfy { $0 })
  }

  @Test func `the most recently used images stay, also across restarts`() throws {
    do {
      let cache = makeCache(originals: 10_000)
      for number in 0..<10 {
        clock += 100
        try cache.store("\(number)", picture(number))
      }
      clock += 100
      for key in ["0", "3"] { _ = cache.read(key) }
    }
    let cache = makeCache(originals: 10_000)
    try cache.store("new", picture(11, size: 2000))
    #expect(cache.contains(["0", "1", "2", "3", "new"]) == [true, false, false, true, true])
  }

  @Test func `an image larger than its budget is not kept and evicts nothing`() throws {
    let cache = makeCache(originals: 10_000)
    try cache.store("a", picture(1))
    let error = #expect(throws: CacheError.self) { try cache.store("b", picture(2, size: 10_001)) }
    #expect(error?.message == "it takes 10 kB, more than the 10 kB for all originals")
    #expect(cache.contains(["a", "b"]) == [true, false])
    #expect(folder.incoming.isEmpty)
    try cache.store("c", picture(3, size: 10_000))
    #expect(cache.contains(["a", "c"]) == [false, true])
  }

  @Test func `a limit of zero keeps only empty images`() throws {
    let cache = makeCache(originals: 0)
    #expect(throws: CacheError.self) { try cache.store("a", [1]) }
    try cache.store("b", [])
    #expect(cache.bytes("b") == [])
  }

  @Test func `a lower limit takes effect at the next store or trim`() throws {
    let cache = makeCache()
    for number in 0..<600 {
      clock += 1
      try cache.store("\(number)", picture(number, size: 100))
    }
    cache.limits.originals = ByteCount(10_000)
    try cache.store("new", picture(1, size: 100))
    #expect(try cache.info().originals.size.bytes <= 10_000)
    cache.limits.originals = ByteCount(1000)
    #expect(try cache.trim().entries > 80)
    #expect(try cache.info().originals.size.bytes <= 1000)
    #expect(bytesOnDisk == (try cache.info().size.bytes))
    #expect(cache.contains(["new"]) == [true])
  }

  @Test func `replacing an image evicts no others`() throws {
    let cache = makeCache(originals: 10_000)
    for number in 0..<10 { try cache.store("\(number)", picture(number)) }
    for _ in 0..<10 { try cache.store("0", picture(0)) }
    #expect(try cache.info().entries == 10)
  }

  @Test func `images unused for seven days are removed, and no others`() throws {
    let cache = makeCache()
    for key in ["a", "b"] { try cache.store(key, picture(1)) }
    clock += 6 * 86_400
    _ = cache.read("b")
    #expect(cache.contains(["a", "b"]) == [true, true])
    clock += 86_400 + 1
    #expect(cache.contains(["a", "b"]) == [false, true])
    #expect(cache.read("a") == nil)
    #expect(try cache.info().entries == 1)
    #expect(folder.bodies.count == 1)
  }

  @Test func `an image that is shown from memory stays like one that is read from disk`() throws {
    let cache = makeCache()
    for key in ["a", "b"] { try cache.store(key, picture(1)) }
    clock += 6 * 86_400
    cache.noteUse(of: "a", for: HTTPFields())
    cache.noteUse(of: "never stored", for: HTTPFields())
    clock += 86_400 + 1
    #expect(cache.contains(["a", "b"]) == [true, false])
  }

  @Test func `expired images are removed when another is stored, once a minute`() throws {
    let cache = makeCache()
    for number in 0..<40 {
      clock += 1
      try cache.store("\(number)", picture(number))
    }
    clock += 7 * 86_400 - 20
    try cache.store("new 0", picture(0))
    #expect(try cache.info().entries == 22)
    clock += 59
    try cache.store("new 1", picture(0))
    #expect(try cache.info().entries == 23)
    clock += 1
    try cache.store("new 2", picture(0))
    #expect(try cache.info().entries == 3)
    clock += 8 * 86_400
    #expect(try cache.trim().entries == 3)
    #expect(folder.bodies.isEmpty)
  }

  @Test func `a use is written at most once a minute`() throws {
    let cache = makeCache()
    try cache.store("a", picture(1))
    let start = clock.now
    clock += 59
    _ = cache.read("a")
    #expect(cache.read("a")?.image.usedAt == start)
    clock += 1
    _ = cache.read("a")
    #expect(cache.read("a")?.image.usedAt == start + 60)
    #expect(try cache.info().hits == 4)
  }

  @Test func `a clock that jumps back does not make an image immortal`() throws {
    let cache = makeCache(originals: 3000)
    clock += 365 * 86_400
    try cache.store("future", picture(1))
    clock += -365 * 86_400
    #expect(cache.contains(["future"]) == [true])
    #expect(cache.read("future")?.bytes == picture(1))
    clock += 60
    for number in 0..<3 { try cache.store("\(number)", picture(number)) }
    #expect(cache.contains(["future"]) == [false])
  }

  @Test
  func `a clock that jumps ahead and back loses images that seemed unused, and no others`()
    throws
  {
    let cache = makeCache()
    for key in ["idle", "read", "pinned"] { try cache.store(key, picture(1)) }
    #expect(try cache.pin("pinned"))
    clock += 6 * 86_400
    _ = cache.read("read")
    clock += 4 * 86_400
    try cache.store("new", picture(2))
    #expect(cache.image(of: "pinned") != nil, "a pinned image never expires")
    clock += -10 * 86_400
    #expect(cache.contains(["idle", "read", "new", "pinned"]) == [false, true, true, true])
    #expect(try cache.verify().removed.isEmpty)
  }

  @Test(arguments: [-1e300, -1.0, 0, 1e15, 1e300, .infinity, -.infinity, .nan])
  func `no clock time causes a crash`(time: Double) throws {
    let cache = makeCache()
    clock.now = time
    try cache.store("a", picture(1))
    #expect(cache.bytes("a") == picture(1))
    #expect(cache.contains(["a"]) == [true])
    _ = try cache.info()
    try cache.trim()
    _ = try cache.verify()
    try cache.clear()
  }

  @Test func `two processes keep one limit together`() throws {
    let (one, two) = (makeCache(originals: 10_000), makeCache(originals: 10_000))
    for number in 0..<40 {
      clock += 1
      try (number.isMultiple(of: 2) ? one : two).store("\(number)", picture(number))
      #expect(try two.info().originals.size.bytes <= 10_000)
    }
    #expect(folder.bodies.count <= 10)
  }
}
