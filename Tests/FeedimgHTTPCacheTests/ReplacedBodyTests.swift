import FeedimgModel
import Glibc
import Testing

@testable import FeedimgHTTPCache

/// Files whose paths programs know, when a new version of their image is stored.
@Suite struct ReplacedBodyTests {
  let folder: TestFolder
  let clock = TestClock()
  let cache: DiskCache

  init() throws {
    folder = try TestFolder()
    let limits = CacheLimits(originals: ByteCount(16_000), thumbnails: ByteCount(16_000), unusedDays: 7)
    cache = DiskCache(folder, limits: limits, clock: clock)
  }

  private func exists(_ image: StoredImage) -> Bool { access(image.path, F_OK) == 0 }

  @Test(arguments: [1000, 200_000])
  func `the same bytes keep their file`(size: Int) throws {
    cache.limits = .roomy
    let first = try cache.store("a", picture(1, size: size))
    clock += 100
    let other = DiskCache(folder, clock: clock)
    let second = try other.store("a", picture(1, size: size))
    #expect(second.path == first.path && second.storedAt == clock.now)
    #expect(folder.bodies.count == 1 && folder.incoming.isEmpty)
    #expect(cache.bytes("a") == picture(1, size: size))
    #expect(try cache.store("a", picture(1, size: size), mediaType: "image/png").path != first.path)
  }

  @Test func `a damaged file is replaced by the same bytes`() throws {
    let first = try cache.store("a", picture(1))
    overwrite(first.path, picture(2))
    let second = try cache.store("a", picture(1))
    #expect(second.path != first.path)
    #expect(cache.bytes("a") == picture(1))
  }

  @Test func `a replaced file stays for a while, and counts`() throws {
    let first = try cache.store("a", picture(1))
    let second = try cache.store("a", picture(2))
    #expect(exists(first) && exists(second))
    #expect(cache.bytes("a") == picture(2))
    #expect(try cache.info().originals.entries == 1)
    #expect(try cache.info().originals.size == ByteCount(2000))
    #expect(try cache.verify().whole == 1)
    #expect(exists(first))
    clock += 599
    try cache.store("b", picture(3))
    #expect(exists(first))
    clock += 60
    try cache.store("c", picture(4))
    #expect(!exists(first) && exists(second))
    #expect(try cache.info().originals.size == ByteCount(3000))
  }

  @Test func `replaced files take at most an eighth of their budget, and limits hold`() throws {
    var paths: [String] = []
    for number in 0..<40 {
      clock += 1
      paths.append(try cache.store("a", picture(number, size: 900)).path)
      try cache.store("\(number)", picture(100 + number, size: 900))
      let bytes = folder.bodies.reduce(0) { $0 + content(of: "\(folder.cache)/\($1)").count }
      #expect(bytes <= 16_000)
    }
    #expect(paths.suffix(3).map { access($0, F_OK) } == [0, 0, 0])
    #expect(paths.dropLast(3).allSatisfy { access($0, F_OK) != 0 })
  }

  @Test func `a replaced file goes if the new version takes the rest of the limit`() throws {
    let first = try cache.store("a", picture(1, size: 2000))
    try cache.store("a", picture(2, size: 14_001))
    #expect(!exists(first))
    #expect(try cache.info().originals.size == ByteCount(14_001))
  }

  @Test func `the replaced file of a pinned image evicts others of its role`() throws {
    for number in 0..<16 {
      clock += 1
      try cache.store("\(number)", picture(number))
    }
    #expect(try cache.pin("15"))
    try cache.store("16", picture(16))
    let pinned = try #require(cache.image(of: "15"))
    try cache.store("15", picture(17))
    #expect(exists(pinned))
    #expect(try cache.info().originals.size == ByteCount(16_000))
    #expect(cache.contains(["0", "1", "15"]) == [false, true, true])
  }

  @Test func `a trim removes old replaced files, and those above an eighth of a lower limit`() throws {
    let first = try cache.store("a", picture(1, size: 2000))
    let second = try cache.store("a", picture(2))
    #expect(try cache.trim() == CacheTrimming())
    cache.limits.originals = ByteCount(2500)
    #expect(try cache.trim() == CacheTrimming(size: ByteCount(2000)))
    #expect(!exists(first) && exists(second), "no image is evicted")
    cache.limits.originals = ByteCount(16_000)
    try cache.store("a", picture(3))
    clock += 599
    #expect(try cache.trim() == CacheTrimming())
    clock += 1
    #expect(try cache.trim() == CacheTrimming(size: ByteCount(1000)))
    #expect(!exists(second) && cache.bytes("a") == picture(3))
  }

  @Test(arguments: ["remove", "clear", "trim"])
  func `what users remove is gone with its earlier versions`(way: String) throws {
    let first = try cache.store("a", picture(1))
    try cache.store("a", picture(2))
    switch way {
    case "remove": #expect(try cache.remove("a"))
    case "clear": try cache.clear()
    default: #expect(try cache.trim(to: ByteCount(0)).size == ByteCount(2000))
    }
    #expect(!exists(first))
    #expect(folder.bodies.isEmpty)
    #expect(try cache.info().size == ByteCount(0))
  }
}
