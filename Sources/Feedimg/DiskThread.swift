import FeedimgThreads
import Glibc
import Synchronization

/// The thread `feedimg-disk`, on which tasks wait for files and for SQLite, so that no other work waits with them.
///
/// Starts with the first step of a task, and ends when it is stopped; later steps run elsewhere.
final class DiskThread: TaskExecutor, @unchecked Sendable {
  // Unchecked: the condition is used under the system's own lock alone, as is everything that the lock guards; both
  // live as long as this object, and the thread holds on to it.
  private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let filled = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var jobs: [UnownedJob] = []
  /// What is done when no step is ready, or when steps have been done so many times.
  private var rest: [@Sendable () -> Void] = []
  private var turns = 0

  /// So often other steps go first, lest those who wait for the rest wait for all that others go on with.
  private static let greatestTurns = 4
  private var isStarted = false
  private var isStopped = false

  init() {
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
    if !take({ jobs.append(job) }) { globalConcurrentExecutor.enqueue(job) }
  }

  /// Does something once the steps have been done that are ready by now, and as a rule what follows from these, so that
  /// what they gather is dealt with at once.
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
    guard !SystemThread.start("feedimg-disk", { self.run() }) else { return }
    // Without a thread of our own the work is done where all other work is.
    let left = locked {
      isStopped = true
      defer { (jobs, rest) = ([], []) }
      return (jobs: jobs, rest: rest)
    }
    for job in left.jobs { globalConcurrentExecutor.enqueue(job) }
    for work in left.rest { Task { work() } }
  }

  private func run() {
    while let turn = next() {
      for job in turn.jobs { job.runSynchronously(on: asUnownedTaskExecutor()) }
      for work in turn.rest { work() }
    }
  }

  private typealias Turn = (jobs: [UnownedJob], rest: [@Sendable () -> Void])

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
