import CCurl
import FeedimgModel
import FeedimgSystem
import Glibc

/// The transfers of one downloader, which run on the thread of an executor; libcurl opens with the first one.
final class CurlTransfers: SocketSource, @unchecked Sendable {
  // Unchecked: only jobs of the executor use the variables, one after the other.
  private let executor: ThreadExecutor
  /// Whether the thread ends with the transfers.
  private let ownsExecutor: Bool
  private let identity: CurlHandle.Identity
  private let libraryNames: [String]
  /// Nil until the first transfer, and after the end.
  private var loop: CurlLoop?
  /// The reason to refuse all later transfers.
  private var ending: LoadError?

  /// Uses a new executor if `executor` is nil.
  init(_ identity: CurlHandle.Identity, libraryNames: [String], on executor: ThreadExecutor?) {
    (self.identity, self.libraryNames) = (identity, libraryNames)
    self.executor = executor ?? ThreadExecutor("feedimg-curl")
    ownsExecutor = executor == nil
  }

  // MARK: From any thread

  func submit(_ order: TransferOrder) { executor.enqueue { self.start(order) } }

  func cancel(_ order: TransferOrder) {
    executor.enqueue {
      self.loop?.cancel(order)
      self.unwatchIfIdle()
    }
  }

  func forgetConnections() { executor.enqueue { self.loop?.forgetConnections() } }

  /// Asks the thread to end all transfers and close all connections, without waiting for it.
  func stop() {
    executor.enqueue {
      self.end()
      if self.ownsExecutor { self.executor.stop() }
    }
  }

  /// Ends all transfers and closes all connections before the process exits, and then calls `completion`.
  func stopForExit(_ completion: @escaping @Sendable () -> Void) {
    let body: @Sendable () -> Void = {
      self.end()
      completion()
    }
    // A job may call exit(3).
    if executor.isCurrent { body() } else { executor.enqueue(body) }
  }

  // MARK: On the executor's thread

  private func start(_ order: TransferOrder) {
    do throws(LoadError) {
      try opened().start(order)
    } catch {
      order.complete(.failure(error))
    }
    unwatchIfIdle()
  }

  private func opened() throws(LoadError) -> CurlLoop {
    if let ending { throw ending }
    guard executor.watch(self) else {
      throw LoadError(.unavailable, message: "the system refuses a thread or a descriptor for downloads")
    }
    if let loop { return loop }
    CurlExit.register(self)
    // ``SystemThread`` blocks signals here: OpenSSL's writes to a closed connection would raise SIGPIPE.
    ccurl_prepare_thread()
    let library = try CurlLibrary.open(libraryNames)
    CurlExit.registerAfterLibraries()
    let loop = try CurlLoop(library, identity: identity)
    self.loop = loop
    return loop
  }

  private func end() {
    let reason = LoadError(.cancelled, message: "the downloader was shut down")
    ending = reason
    loop?.stopAll(reason)
    loop = nil
    unwatchIfIdle()
  }

  private func unwatchIfIdle() {
    if loop?.isIdle ?? true { executor.unwatch(self) }
  }

  var sockets: [pollfd] { loop?.sockets ?? [] }
  var deadline: SuspendingClock.Instant? { loop?.deadline }

  func act(_ ready: [pollfd]) {
    loop?.step(ready)
    unwatchIfIdle()
  }
}
