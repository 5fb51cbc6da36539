import FeedimgModel
import FeedimgSQLite
import Glibc
import Testing

@testable import FeedimgHTTPCache

@Suite struct ListingTests {
  let folder: TestFolder
  let clock = TestClock()
  let cache: DiskCache

  init() throws {
    folder = try TestFolder()
    cache = DiskCache(folder, clock: clock)
    for (key, size) in [("c", 100), ("a", 300), ("b", 200)] {
      clock += 100
      try cache.store(key, picture(1, size: size), role: key == "b" ? .thumbnail : .original)
    }
    clock += 100
    _ = cache.read("c")
  }

  func keys(
    by order: CacheOrder,
    isReversed: Bool = false,
    limit: Int = .max,
    budgets: Set<Budget> = Set(Budget.images)
  ) throws -> String {
    var keys = ""
    try cache.list(by: order, isReversed: isReversed, limit: limit, budgets: budgets) {
      keys += $0.key
      return true
    }
    return keys
  }

  @Test(
    arguments: [(.used, "cba"), (.stored, "bac"), (.size, "abc"), (.key, "abc")] as [(CacheOrder, String)]
  )
  func `a list has an order, and may be reversed and limited`(order: CacheOrder, expected: String) throws {
    #expect(try keys(by: order) == expected)
    #expect(try keys(by: order, isReversed: true) == String(expected.reversed()))
    #expect(try keys(by: order, limit: 2) == String(expected.prefix(2)))
    #expect(try keys(by: order, limit: 0) == "")
  }

  @Test func `a list may be restricted to one role`() throws {
    #expect(try cache.pin("a"))
    #expect(try keys(by: .key, budgets: [.originals]) == "c")
    #expect(try keys(by: .key, budgets: [.thumbnails, .pinned]) == "ab")
    #expect(try keys(by: .key, budgets: []) == "")
  }

  @Test func `a list ends when its reader stops`() throws {
    var count = 0
    try cache.list(by: .used) { _ in
      count += 1
      return count < 2
    }
    #expect(count == 2)
  }

  @Test func `the cache can be changed while it is listed`() throws {
    for number in 0..<600 { try cache.store("\(number)", picture(number, size: 10)) }
    var listed = 0
    try cache.list(by: .stored) { image in
      listed += 1
      return (try? cache.remove(image.key)) == true
    }
    #expect(listed == 603)
    #expect(try cache.info().entries == 0)
  }

  @Test func `very many entries are counted, listed, found missing and removed in steps`() throws {
    let head = ResponseHead(status: 200, fields: HTTPFields(), url: try ImageURL("https://a/"))
    try cache.pool.write { index throws(SQLiteError) in
      for number in 0..<3000 {
        let key = "https://many.example/\(number).jpg"
        let record = EntryRecord(
          ImageMetadata(key: key, role: .original, mediaType: "image/jpeg", head: head),
          size: 1000,
          checksum: 0,
          storedAt: clock.now
        )
        try index.insert(record, usedAt: Int(clock.now) - number)
      }
    }
    #expect(try cache.info().entries == 3003)
    var listed = 0
    try cache.list(by: .key) { _ in
      listed += 1
      return true
    }
    #expect(listed == 3003)
    // Only as many are removed as necessary. The other thousands turn out to have no bodies.
    #expect(try cache.trim(to: ByteCount(1_500_000)).entries == 1501)
    let checked = try cache.verify()
    #expect(checked.whole == 3)
    #expect(checked.removed.count == 1499)
    #expect(try cache.info().size == ByteCount(600))
  }

  @Test func `info reports what is on disk`() throws {
    var blocks = 0
    for path in folder.bodies {
      var status = stat()
      #expect(stat("\(folder.cache)/\(path)", &status) == 0)
      blocks += Int(status.st_blocks) * 512
    }
    let size = try cache.info().sizeOnDisk.bytes
    #expect(size > blocks)
    #expect(size < blocks + 3_000_000)
  }

  @Test func `trimming to a size removes originals before thumbnails, the most recently used last`() throws {
    let trimmed = try cache.trim(to: ByteCount(350))
    #expect(trimmed.entries == 1)
    #expect(trimmed.size == ByteCount(300))
    #expect(try keys(by: .used) == "cb")
    #expect(try cache.trim(to: ByteCount(200)).entries == 1)
    #expect(try keys(by: .used) == "b")
    #expect(try cache.trim(to: ByteCount(0)).size == ByteCount(200))
    #expect(folder.bodies.isEmpty)
  }

  @Test func `trimming to a size removes no more than necessary`() throws {
    for number in 0..<50 {
      clock += 1
      try cache.store("\(number)", picture(number, size: 10))
    }
    #expect(try cache.trim(to: ByteCount(490 + 200)).size == ByteCount(410))
    #expect(try cache.info().entries == 50)
  }

  @Test func `trimming reports its progress`() throws {
    for number in 0..<600 { try cache.store("\(number)", picture(number, size: 10)) }
    var told: [Int] = []
    let trimmed = try cache.trim(to: ByteCount(0)) { told.append($0) }
    #expect(told == [0, 0, 0, 256, 512, 603, 603])
    #expect(trimmed.entries == 603)
    #expect(try cache.info().entries == 0)
  }
}
