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

    func takeStep(on thread: ThreadExecutor) {
      let count = steps.add(1, ordering: .relaxed).newValue
      // An end, in case the other work never runs.
      guard !isDone.load(ordering: .acquiring), count < 1000 else { return }
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
    await withCheckedContinuation { continuation in thread.afterwards { continuation.resume() } }
    #expect(!thread.isRunning)
  }
}
