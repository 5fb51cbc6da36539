import CCurl
import FeedimgModel
import Glibc
import Synchronization

/// The thread `feedimg-curl`, on which libcurl runs; it starts with the first order or step of a task.
final class CurlThread: Sendable {
  typealias Order = TransferOrder

  private let identity: CurlHandle.Identity
  private let libraryNames: [String]
  private let inbox = Mutex(Inbox<Order, UnownedJob, CurlMulti>())
  private let end = Latch()

  init(_ identity: CurlHandle.Identity, libraryNames: [String]) {
    self.identity = identity
    self.libraryNames = libraryNames
  }

  func submit(_ order: Order) {
    switch inbox.withLock({ $0.submit(order) }) {
    case .startThread: spawn()
    case .wake(let multi): multi.wake()
    case .nothing: break
    case .refuse(let error): order.answer(.failure(error))
    }
  }

  func place(_ job: UnownedJob) -> Inbox<Order, UnownedJob, CurlMulti>.Action {
    inbox.withLock { $0.enqueue(job) }
  }

  func cancel(_ id: Order.ID) {
    if case .wake(let multi) = inbox.withLock({ $0.cancel(id) }) { multi.wake() }
  }

  func forgetConnections() {
    if case .wake(let multi) = inbox.withLock({ $0.forgetConnections() }) { multi.wake() }
  }

  /// Asks the thread to give up everything and end; does not wait for it.
  func stop() {
    let reason = LoadError(.cancelled, message: "the downloader was shut down")
    switch inbox.withLock({ $0.end(reason) }) {
    case .wake(let multi): multi.wake()
    case .startThread, .nothing, .refuse: break
    }
  }

  /// Returns when the thread has closed its connections, after ``stop()``.
  func ended() async {
    guard inbox.withLock({ $0.isStarted }) else { return }
    await end.opened()
  }

  func spawn() {
    let isStarted = TransferThreads.start(
      "feedimg-curl",
      { self.run() },
      stop: { [weak self] in self?.stop() }
    )
    guard !isStarted else { return }
    let reason = strerror(errno).map { String(cString: $0) } ?? "error \(errno)"
    fail(LoadError(.unavailable, message: "no thread can be started: \(reason)"))
  }

  private func run() {
    // Signals are held back here, so that what OpenSSL writes to a closed connection raises no SIGPIPE.
    ccurl_prepare_thread()
    do throws(LoadError) {
      let library = try CurlLibrary.open(libraryNames)
      TransferThreads.outliveLibraries()
      serve(try CurlLoop(library, identity: identity))
    } catch {
      fail(error)
    }
    end.open()
  }

  private func serve(_ loop: consuming CurlLoop) {
    var loop = loop
    var batch = Inbox<Order, UnownedJob, CurlMulti>.Batch()
    var jobs: [UnownedJob] = []
    let executor = asUnownedTaskExecutor()
    while true {
      inbox.withLock { $0.take(addingTo: &batch) }
      swap(&jobs, &batch.jobs)
      if !jobs.isEmpty {
        for job in jobs { job.runSynchronously(on: executor) }
        jobs.removeAll(keepingCapacity: true)
        // What these steps order begins at once; further steps wait for their turn, lest transfers wait for ever.
        inbox.withLock { $0.take(addingTo: &batch) }
      }
      if batch.forgetsConnections { loop.forgetConnections() }
      loop.take(batch.orders)
      if let reason = batch.ending {
        loop.endAll(reason)
        return handOver(batch.jobs)
      }
      for id in batch.cancelled { loop.cancel(id) }
      loop.step()
      batch.removeAllButJobs()
      if batch.jobs.isEmpty, loop.goesOn() { continue }
      loop.wait(isIdle: batch.jobs.isEmpty && inbox.withLock { $0.mayWait(waking: loop.multi) })
    }
  }

  /// Answers what has been ordered, and all that will be, with an error.
  private func fail(_ error: LoadError) {
    var batch = Inbox<Order, UnownedJob, CurlMulti>.Batch()
    inbox.withLock {
      _ = $0.end(error)
      $0.take(addingTo: &batch)
    }
    for order in batch.orders { order.answer(.failure(batch.ending ?? error)) }
    handOver(batch.jobs)
    end.open()
  }

  /// Leaves steps of tasks to the threads that would run them without this one.
  func handOver(_ jobs: [UnownedJob]) {
    for job in jobs { globalConcurrentExecutor.enqueue(job) }
  }
}
