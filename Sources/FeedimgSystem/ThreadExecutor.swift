package import Glibc

/// Something whose sockets a ``ThreadExecutor`` watches; only the thread of the executor calls it.
package protocol SocketSource: AnyObject, Sendable {
  /// The sockets to wait for (poll(2)).
  var sockets: [pollfd] { get }
  /// When the source must act even if no socket is ready; nil for never.
  var deadline: SuspendingClock.Instant? { get }
  /// Acts on ready sockets, and on deadlines that have passed.
  ///
  /// - Parameter ready: May include sockets of other sources.
  func act(_ ready: [pollfd])
}

/// Runs jobs in order on its own thread, which starts with the first job.
///
/// It serves as the executor of an actor, and as the preferred executor of tasks that block on files. Between jobs,
/// it watches the sockets of its sources. If the thread cannot be started, a thread of the global executor runs the
/// queued jobs in order. After ``stop()``, the global executor runs the jobs.
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
    /// The running thread.
    var thread: pthread_t?
    var polling = Polling()
  }

  /// The sources that the thread watches with poll(2), instead of the condition variable.
  private struct Polling: Sendable {
    var sources: [any SocketSource] = []
    /// Made for the first source.
    var waker: Waker?
    /// Whether the thread sleeps in poll(2).
    var isAsleep = false

    /// Wakes the thread if it sleeps in poll(2).
    mutating func wake() {
      if isAsleep { waker?.wake() }
      isAsleep = false
    }
  }

  /// The most turns of jobs that a closure of ``afterwards(_:)`` waits for, so that it never starves.
  private static let maximumTurns = 4
  /// The longest time of jobs between two looks at the sockets; less makes smaller groups of work for other threads.
  private static let maximumTimeBeforeSockets = Duration.milliseconds(5)

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

  /// Watches the sockets of a source until ``unwatch(_:)``.
  ///
  /// - Returns: False if the thread could not be started, or the process has no descriptor left.
  package func watch(_ source: any SocketSource) -> Bool {
    lock.withLock { state in
      guard state.thread != nil else { return false }
      if state.polling.waker == nil { state.polling.waker = Waker() }
      guard state.polling.waker != nil else { return false }
      if !state.polling.sources.contains(where: { $0 === source }) { state.polling.sources.append(source) }
      return true
    }
  }

  /// Ends ``watch(_:)``.
  package func unwatch(_ source: any SocketSource) {
    lock.withLock { $0.polling.sources.removeAll { $0 === source } }
  }

  /// Whether the calling thread is that of the executor.
  package var isCurrent: Bool { lock.withLock { $0.thread } == pthread_self() }

  /// Whether the thread has started and not stopped.
  package var isRunning: Bool { lock.withLock { $0.isStarted && !$0.isStopped } }

  /// Ends the thread after the queued jobs.
  package func stop() {
    lock.withLock { state in
      state.isStopped = true
      state.polling.wake()
    }
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
      state.polling.wake()
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
    lock.withLock { $0.thread = pthread_self() }
    var lastPoll = SuspendingClock.now
    while let turn = lock.wait(Self.nextTurn) {
      run(turn)
      let isDue = lastPoll.duration(to: .now) >= Self.maximumTimeBeforeSockets
      guard isDue || turn.jobs.isEmpty else { continue }
      poll()
      lastPoll = .now
    }
    lock.withLock { $0.thread = nil }
  }

  /// Waits for sockets, for the deadline of a source or for a job, and lets the sources act.
  private func poll() {
    let (polling, mayBlock) = lock.withLock { state in
      state.polling.isAsleep = state.jobs.isEmpty && state.afterwards.isEmpty && !state.isStopped
      return (state.polling, state.polling.isAsleep)
    }
    guard let waker = polling.waker, !polling.sources.isEmpty else { return }
    let deadline = polling.sources.compactMap(\.deadline).min()
    let rest = deadline.map { SuspendingClock.now.duration(to: $0) / .milliseconds(1) }
    let milliseconds = mayBlock ? rest.map { Int32(max(0, min($0.rounded(.up), 1e9))) } ?? -1 : 0
    var entries =
      [pollfd(fd: waker.descriptor, events: Int16(POLLIN), revents: 0)] + polling.sources.flatMap(\.sockets)
    let count = Glibc.poll(&entries, nfds_t(entries.count), milliseconds)
    if count > 0, entries[0].revents != 0 { waker.clear() }
    // A response that has arrived counts before a deadline that has passed.
    let ready = count > 0 ? entries.dropFirst().filter { $0.revents != 0 } : []
    guard !ready.isEmpty || deadline.map({ $0 <= .now }) ?? false else { return }
    for source in polling.sources { source.act(ready) }
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
    state.polling.isAsleep = false
    guard !state.jobs.isEmpty || !state.afterwards.isEmpty else {
      if state.isStopped { return .done(nil) }
      return state.polling.sources.isEmpty ? .wait : .done(([], []))
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
