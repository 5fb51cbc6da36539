import FeedimgModel
import FeedimgSystem
import Glibc
import TestSystem
import Testing

@testable import FeedimgSettings

@Suite(.timeLimit(.minutes(10)))
struct SettingsChangesTests {
  private let folder: TemporaryFolder
  private let store: SettingsStore
  /// Changes the file as another process would.
  private let other: SettingsFile

  init() throws {
    folder = try TemporaryFolder()
    store = SettingsStore(folder: folder["feedimg"])
    other = SettingsFile(folder: folder["feedimg"])
  }

  @Test func `the current settings come at once, then each change`() async throws {
    var changes = store.changes().makeAsyncIterator()
    #expect(await changes.next() == UserSettings())
    for days in [30, 31] {
      _ = try other.set(.cacheExpiryDays, to: String(days))
      #expect(await changes.next()?.cacheExpiryDays == days)
    }
    try store.unset(.cacheExpiryDays)
    #expect(await changes.next() == UserSettings())
  }

  @Test func `an edit without effect is not reported`() async throws {
    var changes = store.changes().makeAsyncIterator()
    #expect(await changes.next() == UserSettings())
    try store.set(.cacheExpiryDays, to: "7")
    chmod(folder["feedimg/settings.json"], 0o644)
    _ = try other.set(.cacheExpiryDays, to: "30")
    #expect(await changes.next()?.cacheExpiryDays == 30)
  }

  @Test func `all consumers are notified, including later ones`() async throws {
    var first = store.changes().makeAsyncIterator()
    #expect(await first.next() == UserSettings())
    var second = store.changes().makeAsyncIterator()
    #expect(await second.next() == UserSettings())
    _ = try other.set(.cacheExpiryDays, to: "30")
    #expect(await first.next()?.cacheExpiryDays == 30)
    #expect(await second.next()?.cacheExpiryDays == 30)
  }

  @Test func `a consumer that returns gets the current settings`() async throws {
    for days in 1...20 {
      var changes = store.changes().makeAsyncIterator()
      _ = try other.set(.cacheExpiryDays, to: String(days))
      while await changes.next()?.cacheExpiryDays != days {}
    }
  }

  @Test func `a cancelled consumer gets no more settings`() async throws {
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
}
