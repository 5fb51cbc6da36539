import FeedimgSystem
import Glibc
import Synchronization

/// A few threads of their own, `feedimg-decode`, that are started when there is work and sleep when there is none.
final class DecodingThreads: Sendable {
  /// Called once: with false to do the work, with true to give it up.
  typealias Job = @Sendable (_ isGivenUp: Bool) -> Void

  /// What the threads share with whoever owns them, who may leave first.
  private final class Shared: @unchecked Sendable {
    // Unchecked: a semaphore is for any thread (sem_overview(7)), and stays where it is.
    let sleep = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    let queue: Mutex<WorkQueue<Job>>

    init(width: Int) {
      queue = Mutex(WorkQueue(width: width))
      sem_init(sleep, 0, 0)
    }

    deinit {
      sem_destroy(sleep)
      sleep.deallocate()
    }

    func run() {
      while true {
        switch queue.withLock({ $0.turn() }) {
        case .work(let job): job(false)
        case .sleep: while sem_wait(sleep) != 0 && errno == EINTR {}
        case .end: return
        }
      }
    }
  }

  private let shared: Shared
  private let lastNumber = Atomic(0)

  init(width: Int) { shared = Shared(width: width) }

  deinit {
    let sleepers = shared.queue.withLock { $0.end() }
    for _ in 0..<sleepers { sem_post(shared.sleep) }
  }

  /// - Returns: A number to give it up by.
  func nextNumber() -> Int { lastNumber.add(1, ordering: .relaxed).newValue }

  func submit(_ job: @escaping Job, number: Int) {
    switch shared.queue.withLock({ $0.submit(job, number: number) }) {
    case .startThread: if !start() { for job in shared.queue.withLock({ $0.threadFailed() }) { job(true) } }
    case .wakeThread: sem_post(shared.sleep)
    case .nothing: break
    case .refuse: job(true)
    }
  }

  private func start() -> Bool { SystemThread.start("feedimg-decode") { [shared] in shared.run() } }

  /// Gives up a job that no thread has begun.
  func giveUp(_ number: Int) {
    shared.queue.withLock { $0.take(number) }?(true)
  }
}
