import FeedimgModel
import Glibc
import Testing

@testable import FeedimgHTTPCache

@Suite struct PinTests {
  let folder: TestFolder
  let clock = TestClock()

  init() throws { folder = try TestFolder() }

  func makeCache(originals: Int = 10_000, pinned: Int = 5_000) -> DiskCache {
    let limits = CacheLimits(
      originals: ByteCount(originals),
      thumbnails: ByteCount(10_000),
      pinned: ByteCount(pinned),
      unusedDays: 7
    )
    return DiskCache(folder, limits: limits, clock: clock)
  }

  @Test func `a pinned image survives any number of new ones, and counts apart`() throws {
    let cache = makeCache()
    try cache.store("a", picture(1))
    try cache.store("t", picture(2), role: .thumbnail)
    #expect(try cache.pin("a"))
    #expect(try cache.pin("t"))
    for number in 0..<50 {
      clock += 1
      try cache.store("\(number)", picture(number))
    }
    #expect(cache.bytes("a") == picture(1))
    #expect(cache.bytes("t") == picture(2))
    let info = try cache.info()
    #expect(info.pinned == .init(entries: 2, size: ByteCount(2000), limit: ByteCount(5000)))
    #expect([info.originals, info.thumbnails].map(\.entries) == [10, 0])
    #expect(try cache.list().filter(\.isPinned).map(\.key).sorted() == ["a", "t"])
  }

  @Test func `a pinned image neither expires nor is trimmed`() throws {
    let cache = makeCache()
    for key in ["a", "b"] { try cache.store(key, picture(1)) }
    #expect(try cache.pin("a"))
    clock += 400 * 86_400
    #expect(cache.contains(["a", "b"]) == [true, false])
    #expect(
      try cache.trim(to: ByteCount(0)) == .init(entries: 1, size: ByteCount(1000), pinned: ByteCount(1000))
    )
    #expect(cache.bytes("a") == picture(1))
  }

  @Test func `pinned images stay within their limit`() throws {
    let cache = makeCache(pinned: 2500)
    for key in ["a", "b", "c"] { try cache.store(key, picture(1)) }
    #expect(try cache.pin("a"))
    #expect(try cache.pin("b"))
    let error = #expect(throws: CacheError.self) { try cache.pin("c") }
    #expect(
      error?.message
        == "`c` is not pinned: with its 1 kB pinned images would take more than 2.5 kB; 2 kB are pinned"
    )
    #expect(try cache.pin("a"), "a pinned image stays pinned")
    #expect(try cache.unpin("a"))
    #expect(try cache.pin("c"))
    #expect(try cache.info().pinned.entries == 2)
  }

  @Test func `a newer image takes over the pin, but one that is too large leaves the earlier one`() throws {
    let cache = makeCache(pinned: 2500)
    try cache.store("a", picture(1))
    #expect(try cache.pin("a"))
    try cache.store("a", picture(2, size: 2000))
    #expect(cache.bytes("a") == picture(2, size: 2000))
    #expect(try cache.info().pinned.size == ByteCount(2000))
    #expect(throws: CacheError.self) { try cache.store("a", picture(3, size: 2501)) }
    #expect(cache.bytes("a") == picture(2, size: 2000))
    #expect(folder.bodies.count == 2, "the replaced file stays for a while")
  }

  @Test func `an unpinned image counts as used now, and evicts others`() throws {
    let cache = makeCache()
    try cache.store("a", picture(1))
    #expect(try cache.pin("a"))
    clock += 30 * 86_400
    for number in 0..<10 {
      clock += 1
      try cache.store("\(number)", picture(number))
    }
    #expect(try cache.unpin("a"))
    let info = try cache.info()
    #expect(info.pinned.entries == 0)
    #expect(info.originals.size.bytes <= 10_000)
    #expect(cache.contains(["a", "0"]) == [true, false])
    #expect(folder.bodies.count == info.entries)
  }

  @Test func `an image larger than its own budget cannot be unpinned`() throws {
    let cache = makeCache()
    try cache.store("a", picture(1))
    #expect(try cache.pin("a"))
    cache.limits.originals = ByteCount(10)
    #expect(throws: CacheError.self) { try cache.unpin("a") }
    #expect(cache.contains(["a"]) == [true])
  }

  @Test func `only a complete image can be pinned`() throws {
    let cache = makeCache()
    #expect(try cache.pin("nothing") == false)
    #expect(try cache.unpin("nothing") == false)
    let stored = try cache.store("a", picture(1))
    overwrite(stored.path, picture(2))
    #expect(try cache.pin("a") == false)
    #expect(try cache.info().entries == 0)
  }

  enum Damage: CaseIterable { case changed, missing, swept, verified }

  @Test(arguments: Damage.allCases)
  func `the next image of a key is pinned after the pinned one was damaged`(damage: Damage) throws {
    let cache = makeCache()
    let stored = try cache.store("a", picture(1))
    #expect(try cache.pin("a"))
    if damage == .missing || damage == .swept {
      unlink(stored.path)
    } else {
      overwrite(stored.path, picture(9))
    }
    switch damage {
    case .changed, .missing: #expect(cache.read("a") == nil)
    case .swept: #expect(cache.sweep())
    case .verified: #expect(try cache.verify().removed == ["a"])
    }
    #expect(try cache.info().pinned.entries == 0)
    cache.close()
    let later = makeCache()
    try later.store("a", picture(2))
    #expect(try later.list().map(\.isPinned) == [true])
    #expect(try later.unpin("a"))
    try later.store("a", picture(3))
    #expect(try later.list().map(\.isPinned) == [false], "a pin belongs to one image alone")
  }

  @Test(arguments: [true, false])
  func `the user can unpin a damaged image`(isRemoved: Bool) throws {
    let cache = makeCache()
    let stored = try cache.store("a", picture(1))
    #expect(try cache.pin("a"))
    overwrite(stored.path, picture(9))
    #expect(cache.read("a") == nil)
    _ = isRemoved ? try cache.remove("a") : try cache.unpin("a")
    try cache.store("a", picture(2))
    #expect(try cache.list().map(\.isPinned) == [false])
  }

  @Test func `pins survive a restart, a new image and a 304`() throws {
    let cache = makeCache()
    try cache.store("a", picture(1))
    try cache.store("b", picture(2))
    #expect(try cache.pin("a"))
    let response = try #require(cache.response(for: "a", to: nil))
    #expect(try cache.refresh("a", validating: response, response: response) != nil)
    try cache.store("a", picture(3))
    cache.close()
    let info = try makeCache().info()
    #expect(info.pinned.entries == 1)
    #expect([info.originals, info.thumbnails].map(\.entries) == [1, 0])
    #expect(cache.bytes("a") == picture(3))
  }

  @Test func `pinned images are removed, cleared and checked like others`() throws {
    let cache = makeCache()
    for key in ["a", "b", "c"] {
      try cache.store(key, picture(1))
      #expect(try cache.pin(key))
    }
    let damaged = try #require(cache.list().first { $0.key == "b" })
    overwrite(damaged.path, picture(9))
    #expect(try cache.remove("a"))
    #expect(try cache.verify().removed == ["b"])
    #expect(try cache.info().pinned.size == ByteCount(1000))
    try cache.clear()
    #expect(folder.bodies.isEmpty)
  }
}
