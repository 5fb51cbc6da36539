import FeedimgSystem
import Glibc
import Synchronization
import Testing

@Suite struct JoinableThreadTests {
  private static let isCleanedUp = Atomic(false)

  @Test func `joining a thread waits for the cleanup of libraries at its end`() throws {
    var key = pthread_key_t()
    let made = pthread_key_create(&key) { _ in
      // Long enough to detect a caller that does not wait.
      for _ in 0..<1000 { sched_yield() }
      JoinableThreadTests.isCleanedUp.store(true, ordering: .releasing)
    }
    try #require(made == 0)
    defer { pthread_key_delete(key) }
    let started = SystemThread.startJoinable("feedimg-joined") { [key] in
      pthread_setspecific(key, UnsafeRawPointer(bitPattern: 1))
    }
    let thread = try #require(started)
    #expect(thread.join(milliseconds: 60_000))
    let isCleanedUp = Self.isCleanedUp.load(ordering: .acquiring)
    #expect(isCleanedUp)
    #expect(thread.join(milliseconds: 0), "it has ended for good")
  }

  /// Gives a thread a reference to itself, and the result of joining it.
  private final class Own: Sendable {
    let thread = Mutex<JoinableThread?>(nil)
    let hasEnded = Mutex<Bool?>(nil)
  }

  @Test func `a thread does not wait for itself`() throws {
    let own = Own()
    let started = SystemThread.startJoinable("feedimg-joined") {
      while true {
        if let thread = own.thread.withLock({ $0 }) {
          let hasEnded = thread.join(milliseconds: 60_000)
          return own.hasEnded.withLock { $0 = hasEnded }
        }
        sched_yield()
      }
    }
    let thread = try #require(started)
    own.thread.withLock { $0 = thread }
    while own.hasEnded.withLock({ $0 }) == nil { sched_yield() }
    #expect(own.hasEnded.withLock { $0 } == false)
    #expect(thread.join(milliseconds: 60_000))
  }
}
