import FeedimgHTTPCache
import FeedimgModel
import Glibc
import TestSystem
import Testing

@Suite struct AdministrationTests {
  let folder: TestFolder
  let clock = TestClock()
  let cache: DiskCache

  init() throws {
    folder = try TestFolder()
    cache = DiskCache(folder, clock: clock)
  }

  @Test func `info counts entries and bytes by role, reads, and times of use`() throws {
    try cache.store("a", picture(1, size: 100))
    clock += 100
    try cache.store("b", picture(2, size: 200), role: .thumbnail)
    clock += 100
    try cache.store("c", picture(3, size: 300))
    _ = cache.read("a")
    _ = cache.read("b")
    _ = cache.read("nothing")
    let info = try cache.info()
    #expect(info.folder == folder.cache)
    #expect([info.originals, info.thumbnails].map(\.entries) == [2, 1])
    #expect([info.originals, info.thumbnails].map(\.size.bytes) == [400, 200])
    #expect([info.originals, info.thumbnails].map(\.limit) == [.mebibytes(64), .mebibytes(16)])
    #expect(info.hits == 2)
    #expect(info.misses == 1)
    #expect(info.oldestUse == clock.now - 0)
    #expect(info.newestUse == clock.now)
  }

  @Test func `the list begins with the most recently used image`() throws {
    for key in ["a", "b", "c"] {
      try cache.store(key, picture(1))
      clock += 100
    }
    _ = cache.read("a")
    let list = try cache.list()
    #expect(list.map(\.key) == ["a", "c", "b"])
    #expect(list.map(\.usedAt) == [clock.now, clock.now - 100, clock.now - 200])
  }

  @Test func `removing an image deletes its file`() throws {
    let stored = try cache.store("a", picture(1))
    #expect(try cache.remove("a"))
    #expect(access(stored.path, F_OK) != 0)
    #expect(try !cache.remove("a"))
    #expect(try cache.info().size == ByteCount(0))
  }

  @Test func `clearing removes all files of the cache and no others`() throws {
    for number in 0..<20 { try cache.store("\(number)", picture(number)) }
    let mine = folder.cache + "/holiday.jpg"
    overwrite(mine, [1, 2, 3])
    let other = DiskCache(folder, clock: clock)
    #expect(other.contains(["3"]) == [true])
    try cache.clear()
    #expect(folder.bodies.isEmpty)
    #expect(folder.files() == ["CACHEDIR.TAG", "holiday.jpg", "lock"])
    #expect(cache.contains(["3"]) == [false])
    #expect(other.contains(["3"]) == [false])
    try other.store("3", picture(3))
    #expect(cache.bytes("3") == picture(3))
    #expect(try cache.info().entries == 1)
  }

  @Test(arguments: [1000, 200_000], ["clear", "remove another image"])
  func `an image that was loading when a user removed images is not kept`(size: Int, removal: String) throws {
    try cache.store("a", picture(1))
    let writer = try cache.makeWriter()
    let late = try cache.makeWriter()
    let url = try ImageURL("https://user:word@example.org/secret.jpg")
    let head = ResponseHead(status: 200, fields: HTTPFields(), url: url)
    let metadata = ImageMetadata(key: url.key, role: .original, mediaType: "image/jpeg", head: head)
    for writer in [writer, late] { try picture(2, size: size).withUnsafeBytes { try writer.write($0) } }
    writer.writeRecoveryRecord(metadata)
    let other = DiskCache(folder, clock: clock)
    if removal == "clear" { try other.clear() } else { #expect(try other.removeEverywhere("a")) }
    late.writeRecoveryRecord(metadata)
    #expect(throws: CacheError.self) { try late.keepPartial(metadata) }
    let error = #expect(throws: CacheError.self) { try writer.commit(metadata) }
    #expect(error?.message == "images were removed while it was loading")
    #expect(cache.contains(["a", url.key]) == [false, false])
    #expect(cache.partialDownload(of: url.key) == nil)
    for file in folder.files() {
      let text = String(decoding: content(of: "\(folder.cache)/\(file)"), as: UTF8.self)
      #expect(!text.contains("secret.jpg"), "\(file)")
    }
    try cache.store(url.key, picture(3))
    #expect(cache.bytes(url.key) == picture(3))
  }

  @Test func `removing a URL removes the images and partial downloads of all accounts`() throws {
    let (url, ann) = (try ImageURL("https://example.org/a.jpg"), fields("Authorization: ann"))
    let keys = [url.key, AccountKey.of(url.key, ann), AccountKey.of(url.key, fields("Cookie: bob"))]
    let others = ["\(url.key)?b", "https://example.org/a"]
    for (number, key) in (keys + others).enumerated() {
      try cache.store(key, picture(number))
      let writer = try cache.makeWriter()
      try picture(number).withUnsafeBytes { try writer.write($0) }
      let head = ResponseHead(status: 200, fields: HTTPFields(), url: url)
      try writer.keepPartial(ImageMetadata(key: key, role: .original, mediaType: "", head: head))
    }
    #expect(try Set(cache.keys(of: url.key)) == Set(keys))
    #expect(try cache.removeEverywhere(url.key))
    let isKept = keys.map { _ in false } + others.map { _ in true }
    #expect(cache.contains(keys + others) == isKept)
    #expect((keys + others).map { cache.partialDownload(of: $0) != nil } == isKept)
    #expect(try !cache.removeEverywhere(url.key))
  }

  @Test func `removing a URL removes its responses of all accounts`() throws {
    let url = try ImageURL("https://example.org/a.jpg")
    let keys = ["", "Authorization: ann", "Cookie: bob"].map { ResponseKey(url, fields($0)).text }
    let other = ResponseKey(try ImageURL("https://example.org/a.jpg?b"), HTTPFields()).text
    for (number, key) in (keys + [other]).enumerated() { try cache.store(key, picture(number)) }
    #expect(try cache.removeEverywhere(url.key))
    #expect(cache.contains(keys + [other]) == [false, false, false, true])
    #expect(try !cache.removeEverywhere(url.key))
  }

  @Test func `after clearing no file contains a URL, not even of killed writers`() throws {
    let writer = try Child([Child.worker, "write", folder.cache, "100000000"])
    for _ in 0..<20 { #expect(writer.line() == "stored") }
    writer.kill()
    writer.wait()
    let key = try #require(cache.list().first?.key)
    try cache.clear()
    for file in folder.files() {
      let text = String(decoding: content(of: "\(folder.cache)/\(file)"), as: UTF8.self)
      #expect(!text.contains(key), "\(file)")
    }
  }

  @Test func `a full check finds and removes changed images`() throws {
    for number in 0..<10 { try cache.store("\(number)", picture(number)) }
    let list = try cache.list()
    let changed = try #require(list.first { $0.key == "4" })
    var bytes = content(of: changed.path)
    bytes[500] ^= 1
    overwrite(changed.path, bytes)
    let missing = try #require(list.first { $0.key == "7" })
    unlink(missing.path)
    let result = try cache.verify()
    #expect(result.whole == 8)
    #expect(result.removed.sorted() == ["4", "7"])
    #expect(result.unreadable == [])
    #expect(try cache.info().originals.entries == 8)
    #expect(folder.bodies.count == 8)
  }

  @Test func `a check reports its progress`() throws {
    for number in 0..<3 { try cache.store("\(number)", picture(number)) }
    var told: [[Int]] = []
    let result = try cache.verify { told.append([$0, $1]) }
    #expect(result.whole == 3)
    #expect(told == [[0, 3], [1, 3], [2, 3], [3, 3]])
  }
}
