import FeedimgModel
import FeedimgSQLite
import Testing

@testable import FeedimgHTTPCache

/// The responses of `GET /v1/fetch`, in the same folder and index as images.
@Suite struct ResponseTests {
  let folder: TestFolder
  let clock = TestClock()
  let cache: DiskCache
  let key: String

  init() throws {
    folder = try TestFolder()
    cache = DiskCache(folder, clock: clock)
    key = ResponseKey(try ImageURL("https://example.org/a.jpg"), HTTPFields()).text
  }

  @Test func `a response is not counted or listed as an image`() throws {
    try cache.store(key, picture(1))
    #expect(cache.bytes(key) == picture(1))
    #expect(cache.bytes("\(key)?") == nil)
    let empty = try cache.info()
    #expect((empty.entries, empty.hits, empty.misses) == (0, 0, 0))
    #expect(empty.oldestUse == nil)
    try cache.store("https://example.org/a.jpg", picture(2))
    #expect(cache.bytes(key) == picture(1))
    #expect(try cache.info().entries == 1)
    #expect(try cache.list().map(\.key) == ["https://example.org/a.jpg"])
    #expect(try cache.verify().whole == 1)
    #expect(cache.bytes(key) == picture(1))
  }

  @Test func `responses have a quarter of the limit of originals, and evict only each other`() throws {
    cache.limits = CacheLimits(originals: ByteCount(8000), thumbnails: ByteCount(0), unusedDays: 7)
    try cache.store("https://example.org/a.jpg", picture(0))
    for number in 1...3 {
      clock += 100
      try cache.store("\(key)\(number)", picture(number, size: 900))
    }
    #expect((1...3).map { cache.bytes("\(key)\($0)") == picture($0, size: 900) } == [false, true, true])
    #expect(cache.bytes("https://example.org/a.jpg") == picture(0))
    let error = #expect(throws: CacheError.self) { try cache.store(key, picture(1, size: 2001)) }
    #expect(error?.message.hasSuffix("for all responses") == true, "\(error?.message ?? "")")
  }

  @Test func `responses expire, and are cleared with the images`() throws {
    try cache.store("\(key)1", picture(1))
    clock += 8 * 86_400
    try cache.store("\(key)2", picture(2))
    #expect(cache.bytes("\(key)1") == nil)
    #expect(folder.bodies.count == 1)
    try cache.clear()
    #expect(folder.bodies.isEmpty)
    #expect(cache.bytes("\(key)2") == nil)
  }

  @Test func `requests with other credentials have other keys`() throws {
    let url = try ImageURL("https://example.org/a.jpg")
    let keys = ["", "Authorization: a", "Authorization: b", "Cookie: a", "Accept: a"].map {
      ResponseKey(url, fields($0)).text
    }
    #expect(Set(keys).count == 4)
    #expect(keys[0] == keys[4])
    #expect(!keys.contains { $0.contains("Authorization") })
  }
}
