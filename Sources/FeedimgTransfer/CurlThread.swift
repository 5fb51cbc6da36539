import CCurl
import FeedimgModel
import FeedimgSystem
import Glibc
import Synchronization

/// The thread `feedimg-curl`, on which libcurl runs; it starts with the first command.
final class CurlThread: Sendable {
  private enum Command {
    case start(TransferOrder)
    case cancel(TransferOrder)
    case forgetConnections
  }

  private struct Queue {
    var commands: [Command] = []
    var isStarted = false
    /// Wakes the thread; nil while it is awake.
    var sleeping: Waker?
    /// The reason for the end of the thread; once set, the queue refuses commands.
    var ending: LoadError?

    /// Wakes the thread if it sleeps.
    mutating func wake() { sleeping.take()?.wake() }
  }

  private let identity: CurlHandle.Identity
  private let libraryNames: [String]
  /// The commands from other threads.
  private let queue = Mutex(Queue())

  init(_ identity: CurlHandle.Identity, libraryNames: [String]) {
    self.identity = identity
    self.libraryNames = libraryNames
  }

  func submit(_ order: TransferOrder) {
    if let refusal = push(.start(order), startsThread: true) { order.complete(.failure(refusal)) }
  }

  func cancel(_ order: TransferOrder) { _ = push(.cancel(order), startsThread: false) }

  func forgetConnections() { _ = push(.forgetConnections, startsThread: false) }

  /// Asks the thread to stop all transfers and end, without waiting for it.
  func stop() { end(LoadError(.cancelled, message: "the downloader was shut down")) }

  /// Adds a command to the queue and wakes the thread; starts it, or drops the command if it does not run.
  ///
  /// - Returns: The reason for the end of the thread if it refuses commands.
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
    finish(LoadError(.unavailable, message: "cannot start a thread: \(reason)"))
  }

  private func run() {
    // ``SystemThread`` blocks signals here: OpenSSL's writes to a closed connection would raise SIGPIPE.
    ccurl_prepare_thread()
    do throws(LoadError) {
      let library = try CurlLibrary.open(libraryNames)
      CurlThreads.registerAfterLibraries()
      finish(serve(try CurlLoop(library, identity: identity)))
    } catch {
      finish(error)
    }
  }

  /// Runs commands and transfers until the queue has a reason to end, stops all transfers, and returns the reason.
  private func serve(_ loop: consuming CurlLoop) -> LoadError {
    while true {
      let (commands, ending) = take()
      for command in commands {
        switch command {
        case .start(let order): loop.start(order)
        case .cancel(let order): loop.cancel(order)
        case .forgetConnections: loop.forgetConnections()
        }
      }
      if let ending {
        loop.stopAll(ending)
        return ending
      }
      loop.step()
      let mayBlock = queue.withLock { queue in
        queue.sleeping = queue.commands.isEmpty && queue.ending == nil ? loop.waker : nil
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

  /// Fails the remaining transfers, and refuses all later commands.
  private func finish(_ error: LoadError) {
    end(error)
    let (commands, ending) = take()
    for case .start(let order) in commands { order.complete(.failure(ending ?? error)) }
  }
}
