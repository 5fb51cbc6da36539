import CSQLite
import FeedimgModel
import FeedimgSQLite
import Glibc
import Testing

@testable import FeedimgHTTPCache

/// Indexes that other versions of the program have made.
@Suite struct SchemaTests {
  let folder: TestFolder
  let clock = TestClock()

  init() throws { folder = try TestFolder() }

  var index: String { folder.cache + "/index.sqlite" }

  func sqlite(_ statements: String) throws {
    var handle: OpaquePointer?
    sqlite3_open(index, &handle)
    defer { sqlite3_close(handle) }
    let result = sqlite3_exec(handle, statements, nil, nil, nil)
    try #require(result == SQLITE_OK, "\(String(cString: sqlite3_errmsg(handle)))")
  }

  func version() throws -> Int {
    try SQLiteConnection(path: index, access: .write).statement("PRAGMA user_version").first { $0.integer(0) }
      ?? 0
  }

  @Test func `an index of an earlier version is replaced by an empty one`() throws {
    let cache = DiskCache(folder, clock: clock)
    try cache.store("a", picture(1))
    cache.close()
    try sqlite("DROP TABLE replaced; PRAGMA user_version = 4")
    #expect(cache.contains(["a"]) == [false])
    try cache.store("a", picture(2))
    #expect(cache.bytes("a") == picture(2))
    #expect(try version() == IndexSchema.version)
  }

  @Test(arguments: ["", "DROP TABLE entry", "ALTER TABLE entry RENAME COLUMN role TO kind"])
  func `an index that a later version changes under a running cache is not touched, and the error says so`(
    change: String
  ) throws {
    let cache = DiskCache(folder, clock: clock)
    try cache.store("a", picture(1))
    try sqlite("PRAGMA user_version = 8; \(change)")
    let error = #expect(throws: CacheError.self) { try cache.store("b", picture(2)) }
    #expect(
      error?.message
        == "cannot use the index `\(index)`: a later version made it (schema 8); this version supports schema "
        + "\(IndexSchema.version)"
    )
    _ = cache.read("a")
    _ = try? cache.verify()
    cache.close()
    #expect(DiskCache(folder, clock: clock).contains(["a"]) == [false])
    #expect(try version() == 8)
    #expect(folder.bodies.count == 1)
    #expect(access(index + ".damaged", F_OK) != 0)
  }
}
