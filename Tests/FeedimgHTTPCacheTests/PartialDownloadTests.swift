import FeedimgModel
import Glibc
import TestSystem
import Testing

@testable import FeedimgHTTPCache

/// Partial images on disk, from interrupted transfers.
@Suite struct PartialDownloadTests {
  let folder: TestFolder
  let clock = TestClock(Double(time(nil)))
  let cache: DiskCache

  init() throws {
    folder = try TestFolder()
    cache = DiskCache(folder, clock: clock)
  }

  private func keepPartial(_ key: String, _ bytes: [UInt8], in cache: DiskCache? = nil) throws {
    let writer = try (cache ?? self.cache).makeWriter()
    try bytes.withUnsafeBytes { try writer.write($0) }
    let metadata = ImageMetadata(
      key: key,
      role: .original,
      mediaType: "image/jpeg",
      response: try response("ETag: \"1\"", requestedAt: 5, respondedAt: 7)
    )
    try writer.keepPartial(metadata)
  }

  @Test func `a partial image is read back with its response, also by another process`() throws {
    try keepPartial("a", picture(1))
    #expect(folder.incoming == [])
    let other = DiskCache(folder, clock: clock)
    let beginning = try #require(other.partialDownload(of: "a"))
    #expect(beginning.bytes == picture(1))
    #expect(beginning.response.head.fields["ETag"] == "\"1\"")
    #expect(beginning.response.respondedAt == 7)
    #expect(other.partialDownload(of: "b") == nil)
    #expect(other.read("a") == nil, "a partial image is not an image")
    try keepPartial("a", picture(2), in: other)
    #expect(cache.partialDownload(of: "a")?.bytes == picture(2))
    cache.removePartialDownload(of: "a")
    #expect(other.partialDownload(of: "a") == nil)
  }

  @Test func `a flipped bit or a missing end makes a partial image invalid`() throws {
    try keepPartial("a", picture(1, size: 60))
    let path = try #require(folder.files("partial").first.map { "\(folder.cache)/\($0)" })
    let whole = content(of: path)
    for index in whole.indices {
      var damaged = whole
      damaged[index] ^= 1
      overwrite(path, damaged)
      #expect(cache.partialDownload(of: "a") == nil, "byte \(index)")
      overwrite(path, Array(whole[..<index]))
      #expect(cache.partialDownload(of: "a") == nil, "first \(index) bytes")
    }
    overwrite(path, whole)
    #expect(cache.partialDownload(of: "a") != nil)
  }

  @Test func `the file of one key does not serve another`() throws {
    try keepPartial("a", picture(1))
    let path = try #require(folder.files("partial").first)
    let name = Checksum.of("b").hexadecimal
    rename("\(folder.cache)/\(path)", "\(folder.cache)/partial/\(name)")
    #expect(cache.partialDownload(of: "b") == nil)
  }

  @Test func `partial images have little room, and the oldest is evicted`() throws {
    let limits = CacheLimits(originals: ByteCount(80_000), thumbnails: .mebibytes(1), unusedDays: 7)
    let cache = DiskCache(folder, limits: limits, clock: clock)
    for (index, key) in ["a", "b", "c"].enumerated() {
      try keepPartial(key, picture(index, size: 4500), in: cache)
      let path = "\(folder.cache)/partial/\(Checksum.of(key).hexadecimal)"
      // As if they had been written one after the other.
      var times = [timespec(), timespec()]
      for side in times.indices { times[side].tv_sec = time(nil) - 100 + index }
      utimensat(AT_FDCWD, path, times, 0)
    }
    try keepPartial("d", picture(4, size: 4500), in: cache)
    #expect(["a", "b", "c", "d"].map { cache.partialDownload(of: $0) != nil } == [false, false, true, true])
    try keepPartial("e", picture(5, size: 20_000), in: cache)
    #expect(cache.partialDownload(of: "e") == nil, "larger than the limit for all")
    #expect(folder.incoming == [])
  }

  @Test func `trimming to a size removes partial images before images, the oldest first`() throws {
    try cache.store("image", picture(3))
    for (index, key) in ["new", "old"].enumerated() {
      try keepPartial(key, picture(index))
      var times = [timespec(), timespec()]
      for side in times.indices { times[side].tv_sec = time(nil) - 10 * index }
      utimensat(AT_FDCWD, "\(folder.cache)/partial/\(Checksum.of(key).hexadecimal)", times, 0)
    }
    let all = try cache.info().partialDownloads.size.bytes
    #expect(all > 2000)
    #expect(try cache.trim(to: ByteCount(1000 + all)) == CacheTrimming())
    let first = try cache.trim(to: ByteCount(999 + all))
    #expect(first.partialDownloads == 1 && first.entries == 0 && first.size.bytes > 1000)
    #expect(cache.partialDownload(of: "old") == nil && cache.partialDownload(of: "new") != nil)
    #expect(try cache.trim(to: ByteCount(1000)).partialDownloads == 1)
    #expect(cache.bytes("image") != nil)
    #expect(try cache.trim(to: ByteCount(0)).entries == 1)
  }

  @Test func `a cache with only partial images is trimmed too`() throws {
    try keepPartial("a", picture(1))
    #expect(try cache.trim(to: ByteCount(0)).partialDownloads == 1)
    #expect(folder.files("partial") == [])
  }

  @Test func `an unresumed partial image is removed after a day, also when clocks jump`() throws {
    try keepPartial("a", picture(1))
    clock += 86_399
    #expect(cache.partialDownload(of: "a") != nil)
    clock += 2
    #expect(cache.partialDownload(of: "a") == nil)
    try keepPartial("b", picture(1))
    clock += -200_000
    #expect(cache.partialDownload(of: "b") == nil)
    try keepPartial("c", picture(1))
    var times = [timespec(), timespec()]
    for side in times.indices { times[side].tv_sec = time(nil) - 90_000 }
    utimensat(AT_FDCWD, "\(folder.cache)/partial/\(Checksum.of("c").hexadecimal)", times, 0)
    cache.sweepIncoming()
    #expect(folder.files("partial") == [])
  }

  @Test func `clearing removes partial images and no foreign files`() throws {
    try keepPartial("a", picture(1))
    overwrite("\(folder.cache)/partial/mine", [1])
    try cache.clear()
    #expect(folder.files("partial") == ["partial/mine"])
  }

  @Test func `a partial image that cannot be written is dropped with a report`() throws {
    let writer = try cache.makeWriter()
    try picture(1).withUnsafeBytes { try writer.write($0) }
    overwrite("\(folder.cache)/partial", [1])
    let metadata = ImageMetadata(key: "a", role: .original, mediaType: "", response: try response(""))
    #expect(throws: CacheError.self) { try writer.keepPartial(metadata) }
    #expect(folder.incoming == [])
  }
}

/// The files that killed writers leave.
@Suite struct RecoveryRecordTests {
  let folder: TestFolder
  let clock = TestClock(Double(time(nil)))
  let cache: DiskCache

  init() throws {
    folder = try TestFolder()
    cache = DiskCache(folder, clock: clock)
  }

  private func metadata(_ key: String) throws -> ImageMetadata {
    ImageMetadata(key: key, role: .original, mediaType: "", response: try response("ETag: \"1\""))
  }

  private func recordPath() throws -> String {
    folder.cache + "/" + (try #require(folder.files("partial").first { $0.hasSuffix(".head") }))
  }

  /// Leaves a body with its recovery record as a killed writer does, whose locks the kernel has released.
  private func leave(_ key: String, _ bytes: [UInt8], boot: String? = nil) throws {
    let writer = try cache.makeWriter()
    try bytes.withUnsafeBytes { try writer.write($0) }
    writer.writeRecoveryRecord(try metadata(key))
    let name = try #require(folder.incoming.first)
    overwrite("\(folder.cache)/incoming/\(Self.name)", content(of: "\(folder.cache)/\(name)"))
    let record = content(of: try recordPath())
    writer.discard()
    overwrite(leftPath(key), boot.map { record.dropLast(36) + Array($0.utf8) } ?? record)
  }

  private static let name = "0123456789abcdef"

  /// The path of the recovery record that ``leave(_:_:boot:)`` writes.
  private func leftPath(_ key: String) -> String {
    "\(folder.cache)/partial/\(Checksum.of(key).hexadecimal).\(Self.name).head"
  }

  @Test func `the file of a killed writer is a partial image, for readers and for the sweep`() throws {
    try leave("a", picture(1))
    #expect(cache.partialDownload(of: "a")?.bytes == picture(1))
    #expect(cache.partialDownload(of: "a")?.response.head.fields["ETag"] == "\"1\"")
    #expect(folder.incoming == [] && folder.files("partial").count == 1)
    try leave("b", picture(2))
    cache.sweepIncoming()
    #expect(folder.incoming == [])
    #expect(cache.partialDownload(of: "b")?.bytes == picture(2))
  }

  @Test func `two writers of one image have separate files`() throws {
    let writers = try (0..<2).map { _ in try cache.makeWriter() }
    for (index, writer) in writers.enumerated() {
      try picture(1, size: 100 + index).withUnsafeBytes { try writer.write($0) }
      writer.writeRecoveryRecord(try metadata("a"))
    }
    #expect(folder.files("partial").count == 2)
    writers[0].discard()
    #expect(folder.files("partial").count == 1)
    try writers[1].keepPartial(try metadata("a"))
    #expect(cache.partialDownload(of: "a")?.bytes == picture(1, size: 101))
    #expect(folder.files("partial").count == 1 && folder.incoming == [])
  }

  @Test func `of two partial images the longer one stays`() throws {
    try leave("a", picture(1, size: 900))
    _ = cache.partialDownload(of: "a")
    try leave("a", picture(1, size: 500))
    #expect(cache.partialDownload(of: "a")?.bytes.count == 900)
    #expect(folder.incoming == [])
  }

  @Test func `after a reboot, the content of a file is not trusted`() throws {
    try leave("a", picture(1), boot: "00000000-0000-0000-0000-000000000000")
    #expect(cache.partialDownload(of: "a") == nil)
  }

  @Test func `the file of a living writer is its own, and a record without a body is invalid`() throws {
    let writer = try cache.makeWriter()
    try picture(1).withUnsafeBytes { try writer.write($0) }
    writer.writeRecoveryRecord(try metadata("a"))
    #expect(cache.partialDownload(of: "a") == nil)
    cache.sweepIncoming()
    #expect(folder.incoming.count == 1)
    _ = try writer.commit(metadata("a"))
    #expect(folder.files("partial") == [])
    #expect(cache.bytes("a") == picture(1))
  }

  @Test func `a flipped bit in a recovery record makes it invalid`() throws {
    try leave("a", picture(1))
    let path = leftPath("a")
    let whole = content(of: path)
    for index in whole.indices {
      var damaged = whole
      damaged[index] ^= 1
      for record in [damaged, Array(whole[..<index])] {
        overwrite(path, record)
        #expect(cache.partialDownload(of: "a") == nil, "byte \(index)")
      }
    }
  }
}
