/// A first-in, first-out queue of jobs for a limited number of threads (pure).
struct WorkQueue<Job: Sendable>: Sendable {
  /// The next step of the caller, outside its lock.
  enum Step: Sendable, Hashable {
    case startThread
    case wakeThread
    /// All threads are busy.
    case nothing
    /// The queue has ended.
    case refuse
  }

  /// The next step of a thread.
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

  /// Removes a job that no thread has begun; nil if a thread has.
  mutating func take(_ number: Int) -> Job? {
    guard let index = jobs.firstIndex(where: { $0.number == number }) else { return nil }
    return jobs.remove(at: index).job
  }

  /// The next step of a thread; after `sleep` it calls again only when woken.
  mutating func turn() -> Turn {
    if !jobs.isEmpty { return .work(jobs.removeFirst().job) }
    if isEnded { return .end }
    sleepers += 1
    return .sleep
  }

  /// Removes all jobs if no thread runs, after the system refused one.
  mutating func threadFailed() -> [Job] {
    threads -= 1
    guard threads == 0 else { return [] }
    defer { jobs = [] }
    return jobs.map(\.job)
  }

  /// Ends all threads after the remaining jobs.
  ///
  /// - Returns: The number of threads to wake.
  mutating func end() -> Int {
    isEnded = true
    defer { sleepers = 0 }
    return sleepers
  }
}
