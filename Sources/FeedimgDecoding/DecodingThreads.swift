import FeedimgModel
import FeedimgSystem
import Glibc
import Synchronization

/// The threads `feedimg-decode`, which start with the first jobs and sleep without work.
final class DecodingThreads: Sendable {
  /// Called once, with false to do the work, or with true to report that it never runs.
  typealias Job = @Sendable (_ isGivenUp: Bool) -> Void

  /// The state that the threads share with their owner, which they may outlive.
  private final class Shared: @unchecked Sendable {
    // Unchecked: any thread may use the semaphore (sem_overview(7)), and its address never changes.
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

  /// - Returns: A new job number, for ``submit(_:number:)`` and ``giveUp(_:)``.
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

  /// Removes a job that no thread has begun.
  func giveUp(_ number: Int) {
    shared.queue.withLock { $0.take(number) }?(true)
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
