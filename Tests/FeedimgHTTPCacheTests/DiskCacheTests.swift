import FeedimgHTTPCache
import FeedimgModel
import Glibc
import TestSystem
import Testing

@Suite struct DiskCacheTests {
  let folder: TestFolder
  let clock = TestClock()
  let cache: DiskCache

  init() throws {
    folder = try TestFolder()
    cache = DiskCache(folder, clock: clock)
  }

  @Test func `looking into a cache that does not exist creates nothing`() throws {
    #expect(cache.contains(["https://a/", "https://b/"]) == [false, false])
    #expect(cache.read("https://a/") == nil)
    #expect(try cache.info().entries == 0)
    #expect(try cache.list().isEmpty)
    #expect(try cache.remove("https://a/") == false)
    #expect(try cache.trim().entries == 0)
    #expect(try cache.verify().whole == 0)
    try cache.clear()
    cache.close()
    #expect(access(folder.cache, F_OK) != 0)
  }

  @Test func `a stored image is read back with its metadata`() throws {
    let bytes = picture(1)
    let stored = try cache.store("https://a/1", bytes, role: .thumbnail, mediaType: "image/webp")
    #expect(cache.contains(["https://a/1", "https://a/2"]) == [true, false])
    let read = try #require(cache.read("https://a/1"))
    #expect(read.bytes == bytes)
    #expect(read.image.response == cache.response(for: stored.key, to: nil))
    #expect(read.image.path == stored.path && read.image.size == stored.size)
    #expect(read.image.role == .thumbnail)
    #expect(read.image.mediaType == "image/webp")
    #expect(read.image.size == ByteCount(1000))
    #expect(read.image.storedAt == clock.now)
  }

  /// Few of the 200 keys are in the index; of the 40 keys, all are.
  @Test(arguments: [(5, 200), (200, 40)])
  func `expired, missing and truncated images do not count among many keys`(images: Int, keys: Int) throws {
    try cache.store("0", picture(0))
    clock += 6 * 86_400
    let stored = try (1..<images).map { try cache.store("\($0)", picture($0)) }
    clock += 2 * 86_400
    unlink(stored[0].path)
    overwrite(stored[1].path, picture(2, size: 999))
    let found = cache.contains((0..<keys).map(String.init))
    #expect(found == (0..<keys).map { (3..<images).contains($0) })
  }

  @Test(arguments: [
    ("image/jpeg", ".jpg"), ("image/png", ".png"), ("image/webp", ".webp"), ("image/gif", ".gif"),
    ("image/avif", ".avif"), ("image/heic", ".heic"), ("image/svg+xml", ".svg"),
    ("IMAGE/JPEG; q=1", ".jpg"), ("text/plain", ""), ("", ""), ("../../etc/passwd", ""),
  ])
  func `the file of a body has the extension that decoders expect, and exactly its bytes`(
    mediaType: String,
    ending: String
  ) throws {
    let stored = try cache.store("https://a/1", picture(1), mediaType: mediaType)
    #expect(stored.path.hasPrefix(folder.cache + "/bodies/"))
    let name = try #require(stored.path.split(separator: "/").last)
    #expect(name.drop { $0 != "." } == ending)
    #expect(content(of: stored.path) == picture(1))
    #expect(cache.bytes("https://a/1") == picture(1))
  }

  @Test func `an image may arrive in any pieces and be empty`() throws {
    let writer = try cache.makeWriter()
    let bytes = picture(3, size: 100_000)
    for start in stride(from: 0, to: bytes.count, by: 777) {
      try bytes[start..<min(start + 777, bytes.count)].withUnsafeBytes { try writer.write($0) }
    }
    let head = ResponseHead(status: 200, fields: HTTPFields(), url: try ImageURL("https://a/"))
    _ = try writer.commit(ImageMetadata(key: "long", role: .original, mediaType: "", head: head))
    #expect(cache.bytes("long") == bytes)
    try cache.store("empty", [])
    #expect(cache.bytes("empty") == [])
  }

  @Test func `a new image replaces the old one under a new file name`() throws {
    let old = try cache.store("https://a/1", picture(1))
    let new = try cache.store("https://a/1", picture(2), role: .thumbnail, mediaType: "image/png")
    #expect(old.path != new.path)
    #expect(cache.bytes("https://a/1") == picture(2))
    let info = try cache.info()
    #expect([info.originals, info.thumbnails].map(\.entries) == [0, 1])
    #expect([info.originals, info.thumbnails].map(\.size.bytes) == [1000, 1000], "both files count")
  }

  @Test func `an uncommitted image leaves nothing behind`() throws {
    try cache.store("https://a/1", picture(1))
    let before = folder.files()
    let discarded = try cache.makeWriter()
    try picture(2).withUnsafeBytes { try discarded.write($0) }
    discarded.discard()
    do {
      let forgotten = try cache.makeWriter()
      try picture(2).withUnsafeBytes { try forgotten.write($0) }
    }
    #expect(folder.files() == before)
    #expect(throws: CacheError.self) { try picture(2).withUnsafeBytes { try discarded.write($0) } }
  }

  @Test func `a writer stores one image only`() throws {
    let writer = try cache.makeWriter()
    let head = ResponseHead(status: 200, fields: HTTPFields(), url: try ImageURL("https://a/"))
    let metadata = ImageMetadata(key: "a", role: .original, mediaType: "image/png", head: head)
    _ = try writer.commit(metadata)
    #expect(throws: CacheError.self) { try writer.commit(metadata) }
    writer.discard()
    #expect(cache.bytes("a") == [])
  }

  @Test(arguments: [
    "", " ", "\n", "\\", "a\tb\nc\\d\\t", "\u{0}", "ключ", String(repeating: "x", count: 100_000),
    "https://example.org/" + String(repeating: "%20", count: 2700),
  ])
  func `any text may be a key`(key: String) throws {
    try cache.store(key, picture(1))
    try cache.store(key + "x", picture(2))
    #expect(cache.bytes(key) == picture(1))
    #expect(try cache.list().map(\.key).contains(key))
    #expect(try cache.remove(key))
    #expect(cache.contains([key, key + "x"]) == [false, true])
  }

  @Test func `another process that opens the folder finds everything`() throws {
    try cache.store("https://a/1", picture(1))
    // A second cache shares only the folder with the first.
    let other = DiskCache(folder, clock: clock)
    #expect(other.bytes("https://a/1") == picture(1))
    try other.store("https://a/2", picture(2))
    #expect(cache.bytes("https://a/2") == picture(2))
    try cache.remove("https://a/1")
    #expect(other.contains(["https://a/1"]) == [false])
  }

  @Test func `all files are private to the user, and the folder is marked as a cache`() throws {
    let stored = try cache.store("https://a/1", picture(1))
    for path in [folder.cache, folder.cache + "/bodies", stored.path] {
      var status = stat()
      stat(path, &status)
      #expect(status.st_mode & 0o077 == 0)
    }
    let tag = String(decoding: content(of: folder.cache + "/CACHEDIR.TAG"), as: UTF8.self)
    #expect(tag.hasPrefix("Signature: 8a477f597d28d172789f06886806bc55\n"))
  }
}
