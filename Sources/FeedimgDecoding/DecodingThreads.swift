import FeedimgModel
import FeedimgSystem

/// The threads `feedimg-decode`, which start with the first jobs and sleep without work.
final class DecodingThreads: Sendable {
  /// Called once, with false to do the work, or with true to report that it never runs.
  typealias Job = @Sendable (_ isGivenUp: Bool) -> Void

  private struct State: Sendable {
    /// The jobs that no thread has begun, in order.
    var jobs: [(number: Int, job: Job)] = []
    var lastNumber = 0
    var threads = 0
    /// The number of jobs that threads run.
    var running = 0
    var isEnded = false
  }

  private let width: Int
  /// The jobs; the threads may outlive the owner.
  private let lock = ConditionLock(State())

  /// - Parameter width: The most threads.
  init(width: Int) { self.width = max(1, width) }

  deinit {
    lock.withLock { $0.isEnded = true }
    lock.signalAll()
  }

  /// - Returns: A new job number, for ``submit(_:number:)`` and ``giveUp(_:)``.
  func nextNumber() -> Int {
    lock.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
  }

  func submit(_ job: @escaping Job, number: Int) {
    let needsThread = lock.withLock { state in
      state.jobs.append((number, job))
      guard state.running + state.jobs.count > state.threads, state.threads < width else { return false }
      state.threads += 1
      return true
    }
    guard needsThread else { return lock.signal() }
    guard !SystemThread.start("feedimg-decode", { [lock] in Self.runJobs(lock) }) else { return }
    let lost = lock.withLock { state -> [(number: Int, job: Job)] in
      state.threads -= 1
      // Another thread does them.
      guard state.threads == 0 else { return [] }
      defer { state.jobs = [] }
      return state.jobs
    }
    for (_, job) in lost { job(true) }
  }

  /// Removes a job that no thread has begun.
  func giveUp(_ number: Int) {
    let job = lock.withLock { state in
      state.jobs.firstIndex { $0.number == number }.map { state.jobs.remove(at: $0).job }
    }
    job?(true)
  }

  /// Runs jobs until the owner has ended and none is left.
  private static func runJobs(_ lock: ConditionLock<State>) {
    while let job = lock.wait({ state -> ConditionLock<State>.Step<Job?> in
      guard !state.jobs.isEmpty else { return state.isEnded ? .done(nil) : .wait }
      state.running += 1
      return .done(state.jobs.removeFirst().job)
    }) {
      job(false)
      lock.withLock { $0.running -= 1 }
    }
  }
}

extension DecodingThreads {
  /// Runs the body on one of the threads; cancellation stops it, or removes it from the queue.
  func run<Value: Sendable>(
    _ stop: StopSign,
    _ body: @escaping @Sendable () throws(DecodeError) -> Value
  ) async throws(DecodeError) -> Value {
    let number = nextNumber()
    let result: Result<Value, DecodeError> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        submit(
          { isGivenUp in
            guard !isGivenUp else { return continuation.resume(returning: .failure(Self.givenUp)) }
            do throws(DecodeError) {
              continuation.resume(returning: .success(try body()))
            } catch {
              continuation.resume(returning: .failure(error))
            }
          },
          number: number
        )
        // A cancellation before `submit` found no job to give up.
        if Task.isCancelled { giveUp(number) }
      }
    } onCancel: {
      stop.set()
      giveUp(number)
    }
    return try result.get()
  }

  private static let givenUp = DecodeError(
    .cancelled,
    "decoding was cancelled, or no thread could be started"
  )
}
