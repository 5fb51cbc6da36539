import CCurl
import FeedimgModel
import Glibc
import Synchronization

/// The thread `feedimg-curl`, on which libcurl runs; it starts with the first command.
///
/// As a task executor, it also runs steps of tasks between transfers.
final class CurlThread: TaskExecutor {
  private enum Command {
    case start(TransferOrder)
    case cancel(TransferOrder)
    case forgetConnections
    case run(UnownedJob)
  }

  private struct Queue {
    var commands: [Command] = []
    var isStarted = false
    var hasEnded = false
    /// What wakes the thread; nil while it does not wait.
    var sleeping: CurlMulti?
    /// Why it takes no more commands; the thread ends when this is set.
    var ending: LoadError?
    /// Callers that wait for the end.
    var awaitingEnd: [UnsafeContinuation<Void, Never>] = []

    /// Wakes the thread where it waits.
    ///
    /// The lock is held meanwhile, as it keeps the multi handle alive; the call does not block.
    mutating func wake() { sleeping.take()?.wake() }
  }

  private let identity: CurlHandle.Identity
  private let libraryNames: [String]
  /// Guards what other threads ask of this one.
  private let queue = Mutex(Queue())

  init(_ identity: CurlHandle.Identity, libraryNames: [String]) {
    self.identity = identity
    self.libraryNames = libraryNames
  }

  func submit(_ order: TransferOrder) {
    if let refusal = push(.start(order), startsThread: true) { order.answer(.failure(refusal)) }
  }

  /// Runs a step of a task between transfers; on the global executor once the thread has ended.
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    if push(.run(job), startsThread: true) != nil { globalConcurrentExecutor.enqueue(job) }
  }

  func cancel(_ order: TransferOrder) { _ = push(.cancel(order), startsThread: false) }

  func forgetConnections() { _ = push(.forgetConnections, startsThread: false) }

  /// Asks the thread to stop everything and end; does not wait for it.
  func stop() { end(LoadError(.cancelled, message: "the downloader was shut down")) }

  /// Returns when the thread has closed its connections, after ``stop()``.
  func ended() async {
    await withUnsafeContinuation { continuation in
      let isOver = queue.withLock { queue in
        if queue.isStarted, !queue.hasEnded {
          queue.awaitingEnd.append(continuation)
          return false
        }
        return true
      }
      if isOver { continuation.resume() }
    }
  }

  /// - Parameters:
  ///   - command: What to do on the thread.
  ///   - startsThread: Whether the command needs the thread; otherwise it is dropped where there is none.
  /// - Returns: Why the thread takes no more commands, if so.
  private func push(_ command: Command, startsThread: Bool) -> LoadError? {
    let (refusal, isFirst) = queue.withLock { queue -> (LoadError?, Bool) in
      if let ending = queue.ending { return (ending, false) }
      guard queue.isStarted || startsThread else { return (nil, false) }
      queue.commands.append(command)
      queue.wake()
      defer { queue.isStarted = true }
      return (nil, !queue.isStarted)
    }
    if isFirst { spawn() }
    return refusal
  }

  private func end(_ reason: LoadError) {
    queue.withLock { queue in
      guard queue.ending == nil else { return }
      queue.ending = reason
      queue.wake()
    }
  }

  private func spawn() {
    let isStarted = CurlThreads.start("feedimg-curl", { self.run() }, stop: { [weak self] in self?.stop() })
    guard !isStarted else { return }
    let reason = strerror(errno).map { String(cString: $0) } ?? "error \(errno)"
    finish(LoadError(.unavailable, message: "no thread can be started: \(reason)"))
  }

  private func run() {
    // Signals are blocked on this thread, so that OpenSSL raises no SIGPIPE when it writes to a closed connection.
    ccurl_prepare_thread()
    do throws(LoadError) {
      let library = try CurlLibrary.open(libraryNames)
      CurlThreads.outliveLibraries()
      finish(serve(try CurlLoop(library, identity: identity)))
    } catch {
      finish(error)
    }
  }

  /// Serves until the queue says to end, and closes all connections.
  ///
  /// - Returns: Why it ended.
  private func serve(_ loop: consuming CurlLoop) -> LoadError {
    while true {
      var (commands, ending) = take()
      if !commands.isEmpty {
        execute(commands, loop)
        // Steps of tasks often order the next transfer, which then begins at once.
        (commands, ending) = take()
        execute(commands, loop)
      }
      if let ending {
        loop.stopAll(ending)
        return ending
      }
      loop.step()
      let mayBlock = queue.withLock { queue in
        queue.sleeping = queue.commands.isEmpty && queue.ending == nil ? loop.latest : nil
        return queue.sleeping != nil
      }
      loop.wait(mayBlock: mayBlock)
    }
  }

  private func take() -> (commands: [Command], ending: LoadError?) {
    queue.withLock { queue in
      defer { queue.commands = [] }
      queue.sleeping = nil
      return (queue.commands, queue.ending)
    }
  }

  private func execute(_ commands: [Command], _ loop: CurlLoop) {
    for command in commands {
      switch command {
      case .start(let order): loop.start(order)
      case .cancel(let order): loop.cancel(order)
      case .forgetConnections: loop.forgetConnections()
      case .run(let job): job.runSynchronously(on: asUnownedTaskExecutor())
      }
    }
  }

  /// Answers the commands that remain, and refuses all later ones.
  private func finish(_ error: LoadError) {
    end(error)
    let (ending, commands, waiting) = queue.withLock { queue in
      queue.hasEnded = true
      defer { (queue.commands, queue.awaitingEnd) = ([], []) }
      return (queue.ending ?? error, queue.commands, queue.awaitingEnd)
    }
    for command in commands {
      switch command {
      case .start(let order): order.answer(.failure(ending))
      case .run(let job): globalConcurrentExecutor.enqueue(job)
      case .cancel, .forgetConnections: break
      }
    }
    for continuation in waiting { continuation.resume() }
  }
}
