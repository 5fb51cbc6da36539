import FeedimgThreads
import Glibc
import Synchronization

/// Runs jobs in order on one thread of its own, which starts with the first job.
///
/// As an actor's executor it runs that actor; as a task's preference it runs code that may wait for files. Where the system
/// grants no thread, or after ``stop()``, jobs run where all other jobs do.
final class ThreadExecutor: SerialExecutor, TaskExecutor, @unchecked Sendable {
  // Unchecked: the condition is used under the system's own lock alone, as is everything that the lock guards; both
  // live as long as this object, and the thread holds on to it.
  private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let filled = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private let name: String
  private var jobs: [Job] = []
  /// What runs when no job is ready, or after ``greatestTurns``.
  private var rest: [@Sendable () -> Void] = []
  private var turns = 0

  /// So often other jobs go first.
  private static let greatestTurns = 4
  private var isStarted = false
  private var isStopped = false

  private enum Job: Sendable {
    case swift(UnownedJob)
    case closure(@Sendable () -> Void)
  }

  init(_ name: String) {
    self.name = name
    lock.initialize(to: pthread_mutex_t())
    filled.initialize(to: pthread_cond_t())
    pthread_mutex_init(lock, nil)
    pthread_cond_init(filled, nil)
  }

  deinit {
    pthread_cond_destroy(filled)
    pthread_mutex_destroy(lock)
    filled.deallocate()
    lock.deallocate()
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    if !take({ jobs.append(.swift(job)) }) { globalConcurrentExecutor.enqueue(job) }
  }

  /// Runs a closure on the thread, after the jobs that are there.
  func enqueue(_ work: @escaping @Sendable () -> Void) {
    if !take({ jobs.append(.closure(work)) }) { Task { work() } }
  }

  /// Runs a closure on the thread and returns its result.
  func run<Answer: Sendable>(_ work: @escaping @Sendable () -> Answer) async -> Answer {
    await withCheckedContinuation { continuation in enqueue { continuation.resume(returning: work()) } }
  }

  /// Runs a closure once the jobs that are ready have run, and as a rule those that follow from them, so that it finds all
  /// that they gather.
  func afterwards(_ work: @escaping @Sendable () -> Void) {
    if !take({ rest.append(work) }) { Task { work() } }
  }

  /// Whether the thread will do what is added.
  private func take(_ add: () -> Void) -> Bool {
    let (isTaken, isFirst) = locked {
      guard !isStopped else { return (false, false) }
      add()
      defer { isStarted = true }
      return (true, !isStarted)
    }
    if isTaken { if isFirst { start() } else { pthread_cond_signal(filled) } }
    return isTaken
  }

  /// Whether the thread has been started and not been stopped.
  var isRunning: Bool { locked { isStarted && !isStopped } }

  /// Ends the thread once it has run what it was given.
  func stop() {
    locked { isStopped = true }
    pthread_cond_signal(filled)
  }

  private func locked<Answer>(_ body: () -> Answer) -> Answer {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    return body()
  }

  private func start() {
    guard !SystemThread.start(name, { self.run() }) else { return }
    // Without a thread of our own the work is done where all other work is.
    let left = locked {
      isStopped = true
      defer { (jobs, rest) = ([], []) }
      return (jobs: jobs, rest: rest)
    }
    for job in left.jobs {
      switch job {
      case .swift(let job): globalConcurrentExecutor.enqueue(job)
      case .closure(let work): Task { work() }
      }
    }
    for work in left.rest { Task { work() } }
  }

  private func run() {
    while let turn = next() {
      for job in turn.jobs {
        switch job {
        case .swift(let job):
          job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
        case .closure(let work): work()
        }
      }
      for work in turn.rest { work() }
    }
  }

  private typealias Turn = (jobs: [Job], rest: [@Sendable () -> Void])

  /// Waits for work; nil when there is none and none will come.
  private func next() -> Turn? {
    locked {
      while jobs.isEmpty && rest.isEmpty && !isStopped { pthread_cond_wait(filled, lock) }
      guard !jobs.isEmpty || !rest.isEmpty else { return nil }
      defer { jobs = [] }
      guard jobs.isEmpty || rest.isEmpty || turns == Self.greatestTurns else {
        turns += 1
        return (jobs, [])
      }
      defer { (rest, turns) = ([], 0) }
      return (jobs, rest)
    }
  }
}
