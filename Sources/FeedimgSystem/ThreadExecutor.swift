/// Runs jobs in order on its own thread, which starts with the first job.
///
/// It serves as the executor of an actor, and as the preferred executor of tasks that block on files. If the
/// thread cannot be started, a thread of the global executor runs the queued jobs in order. After ``stop()``, the
/// global executor runs the jobs.
package final class ThreadExecutor: SerialExecutor, TaskExecutor {
  private enum Job: Sendable {
    case swift(UnownedJob)
    case closure(@Sendable () -> Void)
  }

  private struct State: Sendable {
    var jobs: [Job] = []
    /// The closures to run when no job is ready, or after ``ThreadExecutor/maximumTurns``.
    var afterwards: [@Sendable () -> Void] = []
    /// The turns of jobs since the first closure in ``afterwards`` began to wait.
    var turns = 0
    var isStarted = false
    var isStopped = false
  }

  /// The most turns of jobs that a closure of ``afterwards(_:)`` waits for, so that it never starves.
  private static let maximumTurns = 4

  private let name: String
  private let lock = ConditionLock(State())

  /// - Parameter name: The name of the thread, such as `feedimg-disk`; at most 15 bytes.
  package init(_ name: String) { self.name = name }

  package func enqueue(_ job: consuming ExecutorJob) { add(.swift(UnownedJob(job))) }

  /// Runs a closure on the thread, after the queued jobs.
  package func enqueue(_ work: @escaping @Sendable () -> Void) { add(.closure(work)) }

  /// Runs a closure on the thread and returns its result.
  package func run<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in enqueue { continuation.resume(returning: work()) } }
  }

  /// Runs a closure after the queued jobs, and usually also after the jobs that they enqueue.
  ///
  /// The closure can process the results of these jobs together, such as rows to write in one transaction.
  package func afterwards(_ work: @escaping @Sendable () -> Void) {
    if !accept({ $0.afterwards.append(work) }) { Self.runElsewhere(.closure(work)) }
  }

  /// Whether the thread has started and not stopped.
  package var isRunning: Bool { lock.withLock { $0.isStarted && !$0.isStopped } }

  /// Ends the thread after the queued jobs.
  package func stop() {
    lock.withLock { $0.isStopped = true }
    lock.signal()
  }

  private func add(_ job: Job) {
    if !accept({ $0.jobs.append(job) }) { Self.runElsewhere(job) }
  }

  /// Adds work for the thread; false if the thread has stopped.
  private func accept(_ add: (inout State) -> Void) -> Bool {
    let (isAccepted, isFirst) = lock.withLock { state in
      guard !state.isStopped else { return (false, false) }
      add(&state)
      defer { state.isStarted = true }
      return (true, !state.isStarted)
    }
    if isFirst { start() } else if isAccepted { lock.signal() }
    return isAccepted
  }

  private func start() {
    guard !SystemThread.start(name, { self.runJobs() }) else { return }
    // This does not wait for further jobs, because the global executor may have a single thread.
    Task.detached { self.runQueuedJobs() }
  }

  /// Runs the queued jobs on the calling thread; the next job tries to start the thread again.
  private func runQueuedJobs() {
    while let turn = lock.withLock({ state -> Turn? in
      if case .done(let turn) = Self.nextTurn(&state) { return turn }
      state.isStarted = false
      return nil
    }) {
      run(turn)
    }
  }

  private static func runElsewhere(_ job: Job) {
    switch job {
    case .swift(let job): globalConcurrentExecutor.enqueue(job)
    case .closure(let work): Task { work() }
    }
  }

  private func runJobs() {
    while let turn = lock.wait(Self.nextTurn) { run(turn) }
  }

  private func run(_ turn: Turn) {
    for job in turn.jobs {
      switch job {
      case .swift(let job):
        job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
      case .closure(let work): work()
      }
    }
    for work in turn.afterwards { work() }
  }

  private typealias Turn = (jobs: [Job], afterwards: [@Sendable () -> Void])

  /// The work of the next turn; nil if none is left and the thread must stop.
  private static func nextTurn(_ state: inout State) -> ConditionLock<State>.Step<Turn?> {
    guard !state.jobs.isEmpty || !state.afterwards.isEmpty else {
      return state.isStopped ? .done(nil) : .wait
    }
    let jobs = state.jobs
    state.jobs = []
    guard jobs.isEmpty || state.afterwards.isEmpty || state.turns == maximumTurns else {
      state.turns += 1
      return .done((jobs, []))
    }
    defer { (state.afterwards, state.turns) = ([], 0) }
    return .done((jobs, state.afterwards))
  }
}
