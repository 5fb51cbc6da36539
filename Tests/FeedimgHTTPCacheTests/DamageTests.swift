import CSQLite
import FeedimgHTTPCache
import FeedimgModel
import Glibc
import Testing

@Suite struct DamageTests {
  let folder: TestFolder
  let clock = TestClock()

  init() throws { folder = try TestFolder() }

  var index: String { folder.cache + "/index.sqlite" }

  func makeCache() -> DiskCache { DiskCache(folder, clock: clock) }

  /// Stores images and closes the cache, so that everything is in the files.
  func fill(_ count: Int) throws {
    let cache = makeCache()
    for number in 0..<count {
      try cache.store("\(number)", picture(number), role: number.isMultiple(of: 2) ? .original : .thumbnail)
    }
    cache.close()
  }

  /// The number of readable images.
  ///
  /// None of them may be wrong.
  func countWhole(_ count: Int, _ cache: DiskCache) -> Int {
    (0..<count).filter { number in
      guard let bytes = cache.bytes("\(number)") else { return false }
      #expect(bytes == picture(number))
      return bytes == picture(number)
    }.count
  }

  @Test(arguments: [0, 1, 499, 999])
  func `a flipped bit in a body makes a miss, and the body is deleted`(position: Int) throws {
    let cache = makeCache()
    let stored = try cache.store("a", picture(1))
    var bytes = picture(1)
    bytes[position] ^= 0x10
    overwrite(stored.path, bytes)
    #expect(cache.contains(["a"]) == [true])
    #expect(cache.read("a") == nil)
    #expect(cache.contains(["a"]) == [false])
    #expect(access(stored.path, F_OK) != 0)
    #expect(try cache.info().entries == 0)
    #expect(try cache.info().misses == 1)
    try cache.store("a", picture(2))
    #expect(cache.bytes("a") == picture(2))
  }

  @Test(arguments: [0, 1, 999, 1001])
  func `a body of another length makes a miss without being read`(length: Int) throws {
    let cache = makeCache()
    let stored = try cache.store("a", picture(1))
    overwrite(stored.path, picture(1, size: length))
    #expect(cache.contains(["a"]) == [false])
    #expect(cache.read("a") == nil)
    #expect(try cache.info().entries == 0)
  }

  @Test func `a body that is no longer a file makes a miss`() throws {
    let cache = makeCache()
    let paths = try (0..<4).map { try cache.store("\($0)", picture($0)).path }
    unlink(paths[0])
    unlink(paths[1])
    mkdir(paths[1], 0o700)
    unlink(paths[2])
    symlink("/etc/hostname", paths[2])
    unlink(paths[3])
    mkfifo(paths[3], 0o600)
    #expect(cache.contains(["0", "1", "2", "3"]) == [false, false, false, false])
    for key in ["0", "1", "2", "3"] { #expect(cache.read(key) == nil) }
    #expect(try cache.info().entries == 0)
  }

  @Test(arguments: [
    ("nothing", [] as [UInt8]), ("a text", Array("this is no database".utf8)),
    ("zeros", [UInt8](repeating: 0, count: 40_000)), ("noise", picture(7, size: 40_000)),
  ])
  func `an overwritten index is replaced, and its entries are lost`(
    what: String,
    bytes: [UInt8]
  ) throws {
    try fill(40)
    overwrite(index, bytes)
    let cache = makeCache()
    #expect(cache.contains(["5", "nothing"]) == [false, false])
    #expect(countWhole(40, cache) == 0)
    try expectNewStart(cache)
  }

  /// Only the next stored image exists, and no other file is left.
  private func expectNewStart(_ cache: DiskCache) throws {
    try cache.store("new", picture(99))
    #expect(cache.bytes("new") == picture(99))
    #expect(try cache.info().size == ByteCount(1000))
    #expect(folder.bodies.count == 1)
    #expect(try cache.verify().whole == 1)
  }

  @Test func `a deleted index is created again, and its entries are lost`() throws {
    try fill(40)
    unlink(index)
    try expectNewStart(makeCache())
  }

  @Test func `a damaged index is set aside once`() throws {
    try fill(4)
    for text in ["first", "second"] {
      overwrite(index, Array(text.utf8))
      #expect(countWhole(4, makeCache()) == 0)
      #expect(content(of: index + ".damaged") == Array(text.utf8))
    }
    try makeCache().clear()
    #expect(access(index + ".damaged", F_OK) != 0)
  }

  @Test func `an index damaged under a running cache is replaced, also for other processes`() throws {
    try fill(20)
    let (one, two) = (makeCache(), makeCache())
    #expect(countWhole(20, one) == 20)
    #expect(countWhole(20, two) == 20)
    overwrite(index, picture(1, size: 4096))
    #expect(countWhole(20, makeCache()) == 0)
    #expect(countWhole(20, one) == 0)
    try two.store("20", picture(20))
    #expect(countWhole(21, one) == 1)
  }

  @Test func `a truncated index returns no wrong image and works again`() throws {
    try fill(100)
    let whole = content(of: index)
    for length in stride(from: 0, to: whole.count, by: 4096 + 512) {
      overwrite(index, Array(whole[..<length]))
      let cache = makeCache()
      _ = countWhole(100, cache)
      try cache.store("new", picture(101))
      #expect(cache.bytes("new") == picture(101), "cut to \(length) of \(whole.count)")
      cache.close()
    }
  }

  @Test func `bits flipped anywhere in the index never return a wrong image`() throws {
    try fill(60)
    let whole = content(of: index)
    var generator = SeededGenerator(seed: 42)
    for _ in 0..<60 {
      var bytes = whole
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        bytes[Int.random(in: 0..<bytes.count, using: &generator)] ^=
          1 << UInt8.random(in: 0..<8, using: &generator)
      }
      overwrite(index, bytes)
      for companion in ["-wal", "-shm"] { unlink(index + companion) }
      let cache = makeCache()
      _ = countWhole(60, cache)
      try cache.store("60", picture(60))
      #expect(cache.bytes("60") == picture(60))
      _ = try? cache.info()
      _ = try? cache.list()
      _ = try? cache.remove("60")
      cache.close()
    }
  }

  @Test func `a database of another program is not touched`() throws {
    mkdir(folder.cache, 0o700)
    try sqlite("CREATE TABLE notes (text); INSERT INTO notes VALUES ('mine')")
    let before = content(of: index)
    let cache = makeCache()
    #expect(cache.contains(["a"]) == [false])
    #expect(cache.read("a") == nil)
    let error = #expect(throws: CacheError.self) { try cache.store("a", picture(1)) }
    #expect(error?.message == "cannot use the index `\(index)`: it belongs to another program")
    #expect(throws: CacheError.self) { try cache.clear() }
    #expect(content(of: index) == before)
    #expect(folder.bodies.isEmpty)
  }

  @Test func `an index of a later version is not touched`() throws {
    try fill(3)
    try sqlite("PRAGMA user_version = 8")
    let cache = makeCache()
    #expect(cache.contains(["1"]) == [false])
    let error = #expect(throws: CacheError.self) { try cache.store("a", picture(1)) }
    #expect(
      error?.message
        == "cannot use the index `\(index)`: a later version made it (schema 8); this version supports schema 7"
    )
    #expect(folder.bodies.count == 3)
  }

  @Test func `a locked index causes misses and errors, and works again afterwards`() throws {
    try fill(3)
    var handle: OpaquePointer?
    sqlite3_open(index, &handle)
    defer { sqlite3_close(handle) }
    sqlite3_exec(
      handle,
      "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; UPDATE account SET count = count",
      nil,
      nil,
      nil
    )
    let cache = makeCache()
    #expect(cache.contains(["1"]) == [false])
    sqlite3_exec(handle, "ROLLBACK; PRAGMA locking_mode = NORMAL; SELECT * FROM account", nil, nil, nil)
    sqlite3_close(handle)
    handle = nil
    #expect(cache.contains(["1"]) == [true])
    try cache.store("a", picture(1))
  }

  @Test func `clearing works in any state of the index`() throws {
    try fill(10)
    overwrite(index, picture(3, size: 10_000))
    let cache = makeCache()
    try cache.clear()
    #expect(folder.bodies.isEmpty)
    #expect(try cache.info().entries == 0)
    try cache.store("a", picture(1))
    #expect(cache.bytes("a") == picture(1))
  }

  private func sqlite(_ statements: String) throws {
    var handle: OpaquePointer?
    sqlite3_open(index, &handle)
    defer { sqlite3_close(handle) }
    let result = sqlite3_exec(handle, statements, nil, nil, nil)
    try #require(result == SQLITE_OK)
  }
}

/// Random numbers that are equal in every run (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
    return value ^ value >> 31
  }
}
