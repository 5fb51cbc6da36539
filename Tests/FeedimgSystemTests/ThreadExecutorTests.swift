import Glibc
import Synchronization
import Testing

@testable import FeedimgSystem

@Suite struct ThreadExecutorTests {
  /// The events, in order.
  private final class Journal: Sendable {
    private let lines = Mutex<[String]>([])
    var content: [String] { lines.withLock { $0 } }
    func add(_ line: String) { lines.withLock { $0.append(line) } }
  }

  /// Takes steps until other work runs between them.
  private final class Stage: Sendable {
    let isDone = Atomic(false)
    let steps = Atomic(0)
    static let maximum = 1_000_000

    func takeStep(on thread: ThreadExecutor) {
      let count = steps.add(1, ordering: .relaxed).newValue
      // An end, in case the other work never runs.
      guard !isDone.load(ordering: .acquiring), count < Self.maximum else { return }
      Task(executorPreference: thread) { self.takeStep(on: thread) }
    }
  }

  @Test func `deferred work runs after the steps that are ready`() async {
    let thread = ThreadExecutor("test")
    defer { thread.stop() }
    let journal = Journal()
    await withTaskExecutorPreference(thread) {
      await withCheckedContinuation { continuation in
        // On the thread, so that all of this is enqueued before it continues.
        thread.afterwards { continuation.resume() }
        thread.afterwards { journal.add("rest") }
        for name in ["one", "two"] { Task(executorPreference: thread) { journal.add(name) } }
      }
    }
    await withTaskExecutorPreference(thread) { journal.add("end") }
    #expect(journal.content == ["one", "two", "rest", "end"])
  }

  @Test func `deferred work does not wait for tasks that continue elsewhere`() async {
    let thread = ThreadExecutor("test")
    let stage = Stage()
    await withCheckedContinuation { continuation in
      Task(executorPreference: thread) {
        thread.afterwards {
          stage.isDone.store(true, ordering: .releasing)
          continuation.resume()
        }
        stage.takeStep(on: thread)
      }
    }
    thread.stop()
    let count = stage.steps.load(ordering: .relaxed)
    #expect(count < 10)
  }

  @Test func `after a stop, deferred work runs on another thread`() async {
    let thread = ThreadExecutor("test")
    thread.stop()
    await withCheckedContinuation { continuation in
      thread.afterwards {
        #expect(!thread.isCurrent)
        continuation.resume()
      }
    }
  }

  // MARK: Sources

  /// A source with a socket that is ready after `waker.wake()`.
  private final class Source: SocketSource, @unchecked Sendable {
    // Unchecked: only jobs of the executor use the variables, one after the other.
    let waker: Waker
    var deadline: SuspendingClock.Instant?
    var onAct: (_ isReady: Bool) -> Void = { _ in }
    private var acted: CheckedContinuation<Void, Never>?

    init() throws { waker = try #require(Waker()) }

    var sockets: [pollfd] { [pollfd(fd: waker.descriptor, events: Int16(POLLIN), revents: 0)] }

    func act(_ ready: [pollfd]) {
      let isReady = ready.contains { $0.fd == waker.descriptor && $0.revents & Int16(POLLIN) != 0 }
      guard isReady || deadline.map({ $0 <= .now }) ?? false else { return }
      if isReady { waker.clear() }
      deadline = nil
      onAct(isReady)
      acted.take()?.resume()
    }

    /// Waits until the source acts on a socket or a deadline; `body` runs on the thread.
    func acts(on thread: ThreadExecutor, _ body: @escaping @Sendable (Source) -> Void) async {
      await withCheckedContinuation { continuation in
        thread.enqueue {
          self.acted = continuation
          #expect(thread.isCurrent)
          #expect(thread.watch(self))
          body(self)
        }
      }
    }
  }

  @Test func `a source acts on its socket and on its deadline, and jobs run meanwhile`() async throws {
    let (thread, source) = (ThreadExecutor("test"), try Source())
    defer { thread.stop() }
    for _ in 0..<3 {
      await source.acts(on: thread) { $0.waker.wake() }
      await source.acts(on: thread) { $0.deadline = .now }
      await source.acts(on: thread) { $0.deadline = .now.advanced(by: .milliseconds(1)) }
      // The thread sleeps in poll(2), or is about to.
      #expect(await thread.run { 1 } == 1)
    }
  }

  @Test func `a source acts while jobs are always ready`() async throws {
    let (thread, source, stage) = (ThreadExecutor("test"), try Source(), Stage())
    await source.acts(on: thread) { source in
      source.onAct = { _ in stage.isDone.store(true, ordering: .releasing) }
      source.waker.wake()
      stage.takeStep(on: thread)
    }
    thread.stop()
    #expect(stage.steps.load(ordering: .relaxed) < Stage.maximum)
  }

  @Test func `a socket that is ready counts before a deadline that has passed`() async throws {
    let (thread, source) = (ThreadExecutor("test"), try Source())
    defer { thread.stop() }
    await source.acts(on: thread) { source in
      source.onAct = { isReady in #expect(isReady) }
      source.waker.wake()
      source.deadline = .now
    }
  }

  @Test func `a thread without sources waits for jobs`() async throws {
    let (thread, source) = (ThreadExecutor("test"), try Source())
    await source.acts(on: thread) { $0.waker.wake() }
    thread.enqueue { thread.unwatch(source) }
    #expect(await thread.run { 1 } == 1)
    thread.stop()
  }

  @Test func `without a thread, no source is watched`() throws {
    #expect(!ThreadExecutor("test").watch(try Source()))
  }
}
