/// What waits for a bounded number of threads, first come, first served (pure).
struct WorkQueue<Job: Sendable>: Sendable {
  /// What a caller has to do next, outside of its lock.
  enum Step: Sendable, Hashable {
    case startThread
    case wakeThread
    /// All threads are at work.
    case nothing
    /// Jobs are no longer taken.
    case refuse
  }

  /// What a thread does next.
  enum Turn: Sendable {
    case work(Job)
    case sleep
    case end
  }

  private let width: Int
  private var jobs: [(number: Int, job: Job)] = []
  private var threads = 0
  private var sleepers = 0
  private(set) var isEnded = false

  /// - Parameter width: The most threads.
  init(width: Int) { self.width = max(1, width) }

  mutating func submit(_ job: Job, number: Int) -> Step {
    guard !isEnded else { return .refuse }
    jobs.append((number, job))
    if sleepers > 0 {
      sleepers -= 1
      return .wakeThread
    }
    guard threads < width else { return .nothing }
    threads += 1
    return .startThread
  }

  /// Takes back a job that no thread has begun; nil where one has.
  mutating func take(_ number: Int) -> Job? {
    guard let index = jobs.firstIndex(where: { $0.number == number }) else { return nil }
    return jobs.remove(at: index).job
  }

  /// What a thread does next; it must not ask again before it was woken, if it is to sleep.
  mutating func turn() -> Turn {
    if !jobs.isEmpty { return .work(jobs.removeFirst().job) }
    if isEnded { return .end }
    sleepers += 1
    return .sleep
  }

  /// Takes back what no thread will do, as none could be started.
  mutating func threadFailed() -> [Job] {
    threads -= 1
    guard threads == 0 else { return [] }
    defer { jobs = [] }
    return jobs.map(\.job)
  }

  /// Has all threads end when the jobs are done.
  ///
  /// - Returns: How many are to be woken.
  mutating func end() -> Int {
    isEnded = true
    defer { sleepers = 0 }
    return sleepers
  }
}
