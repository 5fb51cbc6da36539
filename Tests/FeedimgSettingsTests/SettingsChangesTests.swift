import FeedimgModel
import Glibc
import Testing

@testable import FeedimgSettings

@Suite(.timeLimit(.minutes(10)))
struct SettingsChangesTests {
  private let folder: TemporaryFolder
  private let store: SettingsStore
  /// As another process would have it.
  private let other: SettingsFile

  init() throws {
    folder = try TemporaryFolder()
    store = SettingsStore(folder: folder["feedimg"])
    other = SettingsFile(folder: folder["feedimg"])
  }

  @Test func `the present state comes at once, then each change`() async throws {
    var changes = store.changes().makeAsyncIterator()
    #expect(await changes.next() == UserSettings())
    for days in [30, 31] {
      _ = try other.set(.cacheExpiryDays, to: String(days))
      #expect(await changes.next()?.cacheExpiryDays == days)
    }
    try store.unset(.cacheExpiryDays)
    #expect(await changes.next() == UserSettings())
  }

  @Test func `what leaves the settings as they are is not told`() async throws {
    var changes = store.changes().makeAsyncIterator()
    #expect(await changes.next() == UserSettings())
    try store.set(.cacheExpiryDays, to: "7")
    chmod(folder["feedimg/settings.json"], 0o644)
    _ = try other.set(.cacheExpiryDays, to: "30")
    #expect(await changes.next()?.cacheExpiryDays == 30)
  }

  @Test func `all who listen are told, also who comes later`() async throws {
    var first = store.changes().makeAsyncIterator()
    #expect(await first.next() == UserSettings())
    var second = store.changes().makeAsyncIterator()
    #expect(await second.next() == UserSettings())
    _ = try other.set(.cacheExpiryDays, to: "30")
    #expect(await first.next()?.cacheExpiryDays == 30)
    #expect(await second.next()?.cacheExpiryDays == 30)
  }

  @Test func `the thread ends with the last who listens, and begins anew`() async throws {
    for _ in 1...20 {
      do {
        var changes = store.changes().makeAsyncIterator()
        #expect(await changes.next() == UserSettings())
        #expect(store.isWaiting)
      }
      #expect(!store.isWaiting)
    }
  }

  @Test func `who is cancelled is told no more`() async throws {
    let store = store
    let listener = Task {
      var count = 0
      for await _ in store.changes() { count += 1 }
      return count
    }
    var changes = store.changes().makeAsyncIterator()
    #expect(await changes.next() == UserSettings())
    listener.cancel()
    #expect(await listener.value <= 1)
  }

  @Test func `a waiter that is stopped lets go of everything`() async throws {
    /// Finishes the stream when nobody holds it any more.
    final class Token: Sendable {
      let continuation: AsyncStream<Void>.Continuation

      init(_ continuation: AsyncStream<Void>.Continuation) { self.continuation = continuation }

      deinit { continuation.finish() }
    }
    let (looks, look) = AsyncStream.makeStream(of: Void.self)
    func makeWaiter() -> SettingsWaiter? {
      let token = Token(look)
      return SettingsWaiter(path: FilePath(folder["settings.json"])) { _ in token.continuation.yield() }
    }
    var waiter = makeWaiter()
    #expect(waiter?.start() == true)
    var iterator = looks.makeAsyncIterator()
    #expect(await iterator.next() != nil)
    waiter?.wake()
    #expect(await iterator.next() != nil)
    try folder.write("{}", to: "settings.json")
    #expect(await iterator.next() != nil)
    waiter?.stop()
    waiter = nil
    // Ends when the thread has let go of the closure.
    while await iterator.next() != nil {}
  }
}

struct SettingsAudienceTests {
  @Test func `the first starts, the next wakes, the last stops`() {
    var audience = SettingsAudience()
    let first = audience.join()
    let second = audience.join()
    #expect(first.step == .start)
    #expect(second.step == .wake)
    #expect(audience.leave(first.number) == .none)
    #expect(audience.leave(first.number) == .none)
    #expect(audience.leave(second.number) == .stop)
    #expect(audience.isEmpty)
    #expect(audience.join().step == .start)
  }

  @Test func `nobody is told the same twice`() {
    var audience = SettingsAudience()
    var changed = UserSettings()
    changed.cacheExpiryDays = 30
    let first = audience.join().number
    #expect(audience.tell(UserSettings()) == [first])
    let second = audience.join().number
    #expect(audience.tell(UserSettings()) == [second])
    #expect(audience.tell(changed) == [first, second])
    #expect(audience.tell(changed) == [])
  }
}
