import CSQLite
import FeedimgModel
import Glibc
import Synchronization
import TestSystem
import Testing

@testable import FeedimgHTTPCache

/// Images that arrive at the same time and share one transaction.
@Suite struct BatchStoreTests {
  let folder: TestFolder
  let executor = OwnExecutor()
  /// Work that the cache does shortly afterwards.
  private let rest = Rest()

  init() throws { folder = try TestFolder() }

  /// Commits images up to the point where they wait for each other.
  private func begin(_ images: [(key: String, bytes: [UInt8])], in cache: DiskCache) throws -> [Outcome] {
    let outcomes = try images.map { image in
      let writer = try cache.makeWriter()
      try image.bytes.withUnsafeBytes { try writer.write($0) }
      let head = ResponseHead(status: 200, fields: HTTPFields(), url: try ImageURL(image.key))
      let metadata = ImageMetadata(key: image.key, role: .original, mediaType: "image/jpeg", head: head)
      let outcome = Outcome()
      Task(executorPreference: executor) { [rest] in
        do throws(CacheError) {
          let stored = try await writer.commit(metadata) { rest.add($0) }
          outcome.note(.success(stored))
        } catch {
          outcome.note(.failure(error))
        }
      }
      return outcome
    }
    executor.run()
    return outcomes
  }

  /// Runs the deferred work.
  private func end() {
    rest.perform()
    executor.run()
  }

  @Test func `no image is confirmed before all are stored`() throws {
    let cache = DiskCache(folder)
    try cache.store("https://a/first", picture(9))
    let keys = (0..<5).map { "https://a/\($0)" }
    let outcomes = try begin(keys.enumerated().map { ($1, picture($0)) }, in: cache)
    #expect(rest.count == 1)
    #expect(cache.contains(keys) == [false, false, false, false, false])
    #expect(outcomes.allSatisfy { $0.value == nil })
    end()
    #expect(cache.contains(keys) == [true, true, true, true, true])
    for (number, key) in keys.enumerated() {
      #expect(cache.bytes(key) == picture(number))
      #expect(try outcomes[number].value?.get().key == key)
    }
    #expect(folder.incoming.isEmpty)
  }

  @Test func `waiting images are not taken for those of a dead process`() throws {
    let cache = DiskCache(folder)
    let outcomes = try begin([("https://a/1", picture(1)), ("https://a/2", picture(2))], in: cache)
    let other = DiskCache(folder)
    try other.store("https://a/3", picture(3))
    #expect(other.sweep())
    end()
    #expect(outcomes.allSatisfy { if case .success? = $0.value { true } else { false } })
    #expect(cache.bytes("https://a/1") == picture(1) && cache.bytes("https://a/2") == picture(2))
  }

  @Test func `if the index belongs to another program, all are refused and none is left`() throws {
    let cache = DiskCache(folder)
    mkdir(folder.cache, 0o700)
    var handle: OpaquePointer?
    sqlite3_open(folder.cache + "/index.sqlite", &handle)
    try #require(sqlite3_exec(handle, "CREATE TABLE notes (text)", nil, nil, nil) == SQLITE_OK)
    sqlite3_close(handle)
    let outcomes = try begin([("https://a/1", picture(1)), ("https://a/2", picture(2))], in: cache)
    end()
    for outcome in outcomes { #expect(throws: CacheError.self) { try #require(outcome.value).get() } }
    #expect(folder.bodies.isEmpty)
  }

  @Test func `of two with one key the later one stays`() throws {
    let cache = DiskCache(folder)
    _ = try begin([("https://a/1", picture(1)), ("https://a/1", picture(2))], in: cache)
    end()
    #expect(cache.bytes("https://a/1") == picture(2))
    #expect(folder.bodies.count == 2, "a program may know the path of the replaced file")
    #expect(try cache.info().entries == 1)
  }

  @Test func `an image that must not be kept does not exclude the others`() throws {
    let size = ByteCount(100_000)
    let limits = CacheLimits(originals: size, thumbnails: size, pinned: ByteCount(2000), unusedDays: 7)
    let cache = DiskCache(folder, limits: limits)
    try cache.store("https://a/1", picture(1))
    #expect(try cache.pin("https://a/1"))
    let large = picture(2, size: 2001)
    let outcomes = try begin(
      [("https://a/0", picture(0)), ("https://a/1", large), ("https://a/2", picture(3))],
      in: cache
    )
    end()
    #expect(throws: CacheError.self) { try outcomes[1].value?.get() }
    #expect(cache.bytes("https://a/1") == picture(1))
    #expect(cache.bytes("https://a/0") == picture(0) && cache.bytes("https://a/2") == picture(3))
    #expect(folder.bodies.count == 3)
  }

  @Test func `together they stay within the limit`() throws {
    let limits = CacheLimits(originals: ByteCount(4500), thumbnails: ByteCount(4500), unusedDays: 7)
    let cache = DiskCache(folder, limits: limits)
    for number in 0..<4 { try cache.store("https://old/\(number)", picture(number)) }
    let images = (0..<6).map { (key: "https://a/\($0)", bytes: picture(10 + $0)) }
    let outcomes = try begin(images, in: cache)
    end()
    #expect(outcomes.allSatisfy { if case .success? = $0.value { true } else { false } })
    let kept = images.filter { cache.bytes($0.key) == $0.bytes }
    #expect(kept.last?.key == "https://a/5")
    #expect(try cache.info().entries == folder.bodies.count)
    #expect((1...4).contains(folder.bodies.count))
  }
}

/// The outcome of storing one image.
private final class Outcome: Sendable {
  private let result = Mutex<Result<StoredImage, CacheError>?>(nil)
  var value: Result<StoredImage, CacheError>? { result.withLock { $0 } }
  func note(_ value: Result<StoredImage, CacheError>) { result.withLock { $0 = value } }
}

private final class Rest: Sendable {
  private let works = Mutex<[@Sendable () -> Void]>([])
  var count: Int { works.withLock { $0.count } }
  func add(_ work: @escaping @Sendable () -> Void) { works.withLock { $0.append(work) } }

  func perform() {
    let works = works.withLock { works in
      defer { works = [] }
      return works
    }
    for work in works { work() }
  }
}
