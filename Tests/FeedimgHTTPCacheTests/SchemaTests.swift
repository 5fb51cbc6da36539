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

  /// A cache of version 1, with an original, a thumbnail and unread shards.
  ///
  /// The schema is as that version wrote it. The bodies are `picture(1)` and `picture(2)`.
  static let first = """
    PRAGMA page_size = 4096; PRAGMA journal_mode = WAL;
    CREATE TABLE entry (
      id INTEGER PRIMARY KEY, role INTEGER NOT NULL, size INTEGER NOT NULL, used_at INTEGER NOT NULL,
      hits INTEGER NOT NULL DEFAULT 0, record TEXT NOT NULL) STRICT;
    CREATE INDEX entry_by_use ON entry (role, used_at);
    CREATE TABLE account (line INTEGER PRIMARY KEY, count INTEGER NOT NULL, bytes INTEGER NOT NULL) STRICT;
    INSERT INTO account VALUES (0, 1, 1000), (1, 1, 1000), (2, 12, 0), (3, 4, 0);
    CREATE TABLE unread (shard INTEGER PRIMARY KEY) STRICT;
    INSERT INTO entry VALUES (
      1800515484097645937, 0, 1000, 1799999000, 3,
      '44fd55a3294e2ca8|1|https://a.example/1.jpg|o|image/jpeg|18fcb74b123b0d71-522d542b85bd739f.jpg|1000|\
    e432c6ef96c03041|1800000000000|1800000000000|1800000000000|200|-|-|https://example.org/image');
    INSERT INTO entry VALUES (
      5617886139995231620, 1, 1000, 1800000000, 0,
      '9604803cfc328a1c|1|https://a.example/2.png|t|image/png|4df6bdadf3019584-781b809178d7f0fe.png|1000|\
    a83462f3be153277|1800000000000|1800000000000|1800000000000|200|-|-|https://example.org/image');
    UPDATE entry SET record = replace(record, '|', char(9));
    PRAGMA application_id = 1717856615; PRAGMA user_version = 1;
    """

  let keys = ["https://a.example/1.jpg", "https://a.example/2.png"]

  /// Creates a cache of version 1.
  func makeFirst() throws {
    overwrite(index, [])
    try sqlite(Self.first)
    for (number, name) in [
      (1, "18/18fcb74b123b0d71-522d542b85bd739f.jpg"), (2, "4d/4df6bdadf3019584-781b809178d7f0fe.png"),
    ] {
      mkdir("\(folder.cache)/bodies/\(name.prefix(2))", 0o700)
      overwrite("\(folder.cache)/bodies/\(name)", picture(number))
    }
  }

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

  @Test func `an index of version 1 is upgraded, and no image is lost`() throws {
    try CacheFolder(folder.cache).create()
    try makeFirst()
    let cache = DiskCache(folder, clock: clock)
    #expect(cache.contains(keys) == [true, true])
    #expect(try version() == IndexSchema.version)
    let info = try cache.info()
    #expect(info.shares.map(\.entries) == [1, 1])
    #expect(info.shares.map(\.size.bytes) == [1000, 1000])
    #expect((info.hits, info.misses) == (12, 4))
    #expect((info.oldestUse, info.newestUse) == (1_799_999_000, 1_800_000_000))
    #expect(keys.map { cache.bytes($0) } == [picture(1), picture(2)])
    #expect(try cache.pin(keys[0]))
    #expect(try cache.info().pinned.entries == 1)
    try cache.store("new", picture(3))
    #expect(try cache.verify().whole == 3)
    #expect(folder.bodies.count == 3)
    #expect(access(index + ".damaged", F_OK) != 0)
  }

  @Test func `an index of version 3 is upgraded, and keeps its images and pins`() throws {
    let cache = DiskCache(folder, clock: clock)
    try cache.store("a", picture(1))
    #expect(try cache.pin("a"))
    cache.close()
    try sqlite("DROP TABLE awaited_pin; DROP TABLE replaced; PRAGMA user_version = 3")
    #expect(cache.bytes("a") == picture(1))
    #expect(try cache.info().pinned.entries == 1)
    #expect(try version() == IndexSchema.version)
  }

  @Test func `an index of version 4 is upgraded, and loses images whose keys have passwords`() throws {
    let cache = DiskCache(folder, clock: clock)
    for key in ["http://x.example/a@b", "http://ann:s3cret@x.example/a"] { try cache.store(key, picture(1)) }
    cache.close()
    try sqlite("DROP TABLE replaced; PRAGMA user_version = 4")
    #expect(try cache.list().map(\.key) == ["http://x.example/a@b"])
    #expect(try cache.info().shares[0].entries == 1)
    #expect(try cache.verify().whole == 1)
    #expect(folder.bodies.count == 1)
    #expect(try version() == IndexSchema.version)
  }

  @Test func `an upgraded index equals a new one`() throws {
    try CacheFolder(folder.cache).create()
    try makeFirst()
    let schema =
      "SELECT group_concat(name || replace(replace(sql, ' ', ''), char(10), ''), ';') FROM sqlite_schema"
    func describe() throws -> String {
      let connection = try SQLiteConnection(path: index, access: .write)
      let text = try connection.statement(
        "SELECT (\(schema)) || ';' || (SELECT group_concat(line) FROM account)"
      ).first {
        $0.withText(0) { String(decoding: $0, as: UTF8.self) }
      }
      return Set((text ?? "").split(separator: ";")).sorted().joined(separator: "\n")
    }
    #expect(DiskCache(folder, clock: clock).contains([keys[0]]) == [true])
    let upgraded = try describe()
    unlink(index)
    try DiskCache(folder, clock: clock).store("x", picture(1))
    #expect(try describe() == upgraded)
  }

  @Test func `an old index that cannot be written appears empty and is not changed`() throws {
    try CacheFolder(folder.cache).create()
    try makeFirst()
    try sqlite("PRAGMA journal_mode = DELETE")
    let script = """
      mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && exec "$2" probe "$1"
      """
    guard let child = try Child.isolated(script, [folder.cache, Child.worker]) else {
      try Test.cancel("the kernel refuses a mount namespace")
    }
    let lines = child.lines()
    #expect(child.wait() == 0)
    #expect(lines.count == 2 && lines[0] == "present 0 whole 0")
    #expect(lines[1].hasSuffix(": read-only file system"))
    #expect(try version() == 1)
  }

  @Test func `several processes that upgrade at once all find everything`() throws {
    try CacheFolder(folder.cache).create()
    try makeFirst()
    let children = try (0..<4).map { _ in try Child([Child.worker, "list", folder.cache]) }
    for child in children { #expect(child.lines().last == "entries 2") }
    #expect(try version() == IndexSchema.version)
    #expect(access(index + ".damaged", F_OK) != 0)
  }

  @Test(arguments: ["", "DROP TABLE entry", "ALTER TABLE entry RENAME COLUMN role TO kind"])
  func `an index that a later version changes under a running cache is not touched, and the error says so`(
    change: String
  ) throws {
    let cache = DiskCache(folder, clock: clock)
    try cache.store("a", picture(1))
    try sqlite("PRAGMA user_version = 7; \(change)")
    let error = #expect(throws: CacheError.self) { try cache.store("b", picture(2)) }
    #expect(
      error?.message
        == "cannot use the index `\(index)`: a later version made it (schema 7); this version supports schema "
        + "\(IndexSchema.version)"
    )
    _ = cache.read("a")
    _ = try? cache.verify()
    cache.close()
    #expect(DiskCache(folder, clock: clock).contains(["a"]) == [false])
    #expect(try version() == 7)
    #expect(folder.bodies.count == 1)
    #expect(access(index + ".damaged", F_OK) != 0)
  }
}
