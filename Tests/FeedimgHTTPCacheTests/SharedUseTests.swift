import CSQLite
import FeedimgModel
import FeedimgSystem
import Glibc
import TestSystem
import Testing

@testable import FeedimgHTTPCache

/// Real processes that are killed at any moment.
@Suite struct SharedUseTests {
  let folder: TestFolder

  init() throws { folder = try TestFolder() }

  @Test func `writers that store the same keys at once leave one complete image of each`() throws {
    let writers = try (0..<3).map { _ in try Child([Child.worker, "write-some", folder.cache]) }
    for writer in writers {
      #expect(writer.lines() == ["done"])
      #expect(writer.wait() == 0)
    }
    let probe = try Child([Child.worker, "probe", folder.cache])
    #expect(probe.lines() == ["present 48 whole 48", "stored"])
    // An hour later, the files of earlier versions are removed.
    try DiskCache(folder: folder.cache, limits: .roomy, clock: { SystemClock.seconds() + 3600 }).trim()
    #expect(folder.bodies.count == 48)
    #expect(folder.incoming.isEmpty)
  }

  @Test func `a copied folder has all images, also those that only the log of the index has`() throws {
    let (cache, copy) = (DiskCache(folder), try TestFolder())
    for number in 0..<10 { try cache.store("\(number)", picture(number)) }
    #expect(try cache.pin("3"))
    #expect(content(of: folder.cache + "/index.sqlite-wal").count > 0)
    let script = "tar -C \"$1\" -cf - cache | tar -C \"$2\" -xf -"
    #expect(try Child(["sh", "-c", script, "sh", folder.path, copy.path]).wait() == 0)
    let copied = DiskCache(copy)
    for number in 0..<10 { #expect(copied.bytes("\(number)") == picture(number)) }
    #expect(try copied.info().pinned.entries == 1)
    try copied.store("10", picture(10))
    #expect(try copied.verify().whole == 11)
  }

  @Test func `after five hundred killed writers no reader sees a wrong image or fails to open`() throws {
    let limit = 300_000
    let readers = try (0..<2).map { _ in try Child([Child.worker, "read", folder.cache, "\(limit)"]) }
    for reader in readers { #expect(reader.line() == "ready") }
    for round in 0..<250 {
      // Two at a time, which also compete with each other.
      let writers = try (0..<2).map { _ in try Child([Child.worker, "write", folder.cache, "\(limit)"]) }
      // The kills come a while after a line, while the next image or the one after it is stored. One round in
      // eight kills while they open the cache.
      let lines = round.isMultiple(of: 8) ? 0 : Int.random(in: 1...3)
      for _ in 0..<lines { #expect(writers[0].line() == "stored") }
      for writer in writers {
        let moment = ContinuousClock.now + .microseconds(Int.random(in: 0..<(lines == 0 ? 10_000 : 1000)))
        while ContinuousClock.now < moment {}
        writer.kill()
        #expect(writer.wait() == -SIGKILL)
      }
    }
    for reader in readers {
      reader.stop()
      let lines = reader.lines()
      #expect(lines.count == 1 && lines[0].hasPrefix("whole "), "\(lines)")
      #expect(reader.wait() == 0)
    }
    try expectAccord(limit: limit)
  }

  /// Rows, bodies and totals agree, and no file of a killed process is left.
  private func expectAccord(limit: Int) throws {
    let limits = CacheLimits(originals: ByteCount(limit), thumbnails: ByteCount(limit), unusedDays: 7)
    let cache = DiskCache(folder: folder.cache, limits: limits, clock: { SystemClock.seconds() + 3600 })
    // The next stored image repairs what the last writer left, and an hour later removes the replaced bodies.
    try cache.store("next", picture(1))
    let before = try cache.info()
    let rows = Set(try cache.list().map(\.path))
    let bodies = Set(folder.bodies.map { "\(folder.cache)/\($0)" })
    #expect(before.entries == rows.count)
    #expect(rows.subtracting(bodies) == [])
    #expect(bodies.subtracting(rows) == [], "\(folder.files()), rows \(rows.sorted())")
    for share in [before.originals, before.thumbnails] { #expect(share.size.bytes <= limit) }
    let checked = try cache.verify()
    #expect(checked.unreadable == [])
    #expect(checked.whole > 0)
    let after = try cache.info()
    #expect([after.originals, after.thumbnails].map(\.entries).reduce(0, +) == checked.whole)
    #expect(folder.bodies.count == checked.whole)
    #expect(folder.incoming.isEmpty)
    let images = try cache.list()
    #expect(after.size.bytes == images.reduce(0) { $0 + content(of: $1.path).count })
  }

  @Test func `files of dead writers are removed while the cache is used, those of living ones are not`()
    throws
  {
    let cache = DiskCache(folder)
    let living = try cache.makeWriter()
    try picture(1, size: 100_000).withUnsafeBytes { try living.write($0) }
    let writer = try Child([Child.worker, "write", folder.cache])
    #expect(writer.line() == "stored")
    writer.kill()
    writer.wait()
    // The file of a writer that was killed between its first and its last byte.
    overwrite(folder.cache + "/incoming/0123456789abcdef", picture(2))
    overwrite(folder.cache + "/incoming/notes.txt", [1])
    // One stored image in eight triggers the search for dead writers.
    for number in 0..<1000 where folder.incoming.count > 2 {
      try cache.store("\(number % 8)", picture(number))
    }
    let left = folder.incoming
    #expect(left.count == 2)
    #expect(left.contains("incoming/notes.txt"))
    let head = ResponseHead(status: 200, fields: HTTPFields(), url: try ImageURL("https://a/"))
    _ = try living.commit(ImageMetadata(key: "living", role: .original, mediaType: "", head: head))
    #expect(cache.bytes("living") == picture(1, size: 100_000))
  }

  @Test func `unfinished work of a killed process is removed at the next store`() throws {
    let cache = DiskCache(folder)
    let kept = try cache.store("kept", picture(1))
    let orphan = try cache.store("lost row", picture(2))
    let lost = try cache.store("lost body", picture(3))
    cache.close()
    var handle: OpaquePointer?
    sqlite3_open(folder.cache + "/index.sqlite", &handle)
    let result = sqlite3_exec(handle, "DELETE FROM entry WHERE key = 'lost row'", nil, nil, nil)
    sqlite3_close(handle)
    try #require(result == SQLITE_OK)
    unlink(lost.path)
    // No process has it locked, since its owner is dead.
    overwrite(folder.cache + "/incoming/0123456789abcdef.session", [])
    try cache.store("next", picture(5))
    #expect(cache.contains(["kept", "lost row", "lost body", "next"]) == [true, false, false, true])
    #expect(access(kept.path, F_OK) == 0 && access(orphan.path, F_OK) != 0)
    #expect(try cache.info().entries == 2)
    cache.close()
    #expect(folder.files("incoming").isEmpty)
  }

  @Test func `a session belongs to its process while that lives, and ends with it`() throws {
    let cache = DiskCache(folder)
    try cache.store("a", picture(1))
    #expect(folder.files("incoming").count == 1)
    DiskCache(folder).sweepIncoming()
    #expect(folder.files("incoming").count == 1)
    cache.close()
    #expect(folder.files("incoming").isEmpty)
  }

  @Test func `a check removes bodies without a row`() throws {
    let cache = DiskCache(folder)
    let stored = try cache.store("a", picture(1))
    let slash = try #require(stored.path.lastIndex(of: "/"))
    let name = stored.path[stored.path.index(after: slash)...]
    overwrite(String(stored.path[...slash] + name.prefix(17) + "0123456789abcdef.jpg"), picture(2))
    #expect(folder.bodies.count == 2)
    #expect(try cache.verify().whole == 1)
    #expect(folder.bodies.count == 1)
    #expect(cache.bytes("a") == picture(1))
  }

  @Test func `an image that another process replaces is read in its old or new form`() throws {
    let (one, two) = (DiskCache(folder), DiskCache(folder))
    try one.store("a", picture(1))
    #expect(two.bytes("a") == picture(1))
    try one.store("a", picture(2))
    #expect(two.bytes("a") == picture(2))
    let path = try #require(two.read("a")?.image.path)
    let held = open(path, O_RDONLY)
    try one.store("a", picture(3))
    var bytes = [UInt8](repeating: 0, count: 1000)
    #expect(read(held, &bytes, 1000) == 1000)
    close(held)
    #expect(bytes == picture(2))
  }
}
