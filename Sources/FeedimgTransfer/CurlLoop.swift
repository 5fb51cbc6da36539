import CCurl
import FeedimgModel
import FeedimgSystem
import Glibc

/// The running transfers and their handles; only curl's thread uses it.
final class CurlLoop {
  private let library: CurlLibrary
  private let identity: CurlHandle.Identity
  private let time = LoopTime()
  private let sockets = OpenSockets()
  private var running: [Transfer] = []
  /// Idle handles for later transfers.
  private var spare: [CurlHandle] = []
  /// Ends a wait, from any thread.
  let waker: Waker
  /// The sockets that the last wait found ready.
  private var ready: [pollfd] = []
  /// The multi handle for new transfers.
  private var latest: CurlMulti
  /// Multi handles that ``forgetConnections()`` replaced and in which transfers still run.
  ///
  /// In libcurl, only a new multi handle keeps new transfers from using old connections.
  private var older: [CurlMulti] = []

  /// The most idle handles to keep; each takes about 5 kB.
  private static let maximumSpare = 32

  /// - Throws: ``LoadError`` with `unavailable` if memory or descriptors run out.
  init(_ library: CurlLibrary, identity: CurlHandle.Identity) throws(LoadError) {
    guard let multi = CurlMulti(library, time: time), let waker = Waker() else { throw Self.outOfMemory }
    self.library = library
    self.waker = waker
    self.identity = identity
    latest = multi
  }

  func start(_ order: TransferOrder) {
    guard !order.isCancelled else { return order.completeCancelled() }
    guard let handle = spare.popLast() ?? CurlHandle(library, identity: identity) else {
      return order.complete(.failure(Self.outOfMemory))
    }
    launch(Transfer(order, on: handle, addresses: identity.addresses, time: time, sockets: sockets))
  }

  func cancel(_ order: TransferOrder) {
    guard let transfer = running.first(where: { $0.order === order }) else { return }
    stop(transfer, LoadError(.cancelled, message: "cancelled"))
  }

  /// Makes later transfers open new connections and resolve names again; running transfers continue.
  ///
  /// Idle connections close when the last running transfer ends. If memory runs out, nothing changes.
  func forgetConnections() {
    guard let multi = CurlMulti(library, time: time) else { return }
    if latest.count > 0 { older.append(latest) }
    latest = multi
  }

  /// Lets the transfers proceed as far as they can without waiting.
  func step() {
    for multi in older + [latest] {
      multi.perform(ready)
      while let (easy, code) = multi.nextEnded() {
        guard let transfer = running.first(where: { $0.handle.pointer == easy }) else { continue }
        finish(transfer, transfer.end(code))
      }
    }
    for transfer in running {
      if let error = transfer.framingError {
        stop(transfer, error)
        continue
      }
      guard let limit = transfer.timeouts.exceeded(at: time.now) else { continue }
      // A silent connection may be dead, so later transfers must not share it.
      let isShared = transfer.url.isSecure && transfer.handle.mayShareConnection
      if limit.isSilence, isShared, transfer.multi === latest { forgetConnections() }
      stop(transfer, CurlOutcome.error(limit, transfer.progress))
    }
    older.removeAll { $0.count == 0 }
    ready = []
  }

  /// Waits for network activity, a time limit or a wake-up.
  ///
  /// - Parameter mayBlock: False to return at once because commands are pending.
  func wait(mayBlock: Bool) {
    let multis = older + [latest]
    let ends = multis.map(\.deadline) + running.map { $0.timeouts.next?.end }
    let end = mayBlock ? ends.compactMap { $0 }.min() : time.now
    let milliseconds = end.map { Int32(clamping: max(0, time.now.duration(to: $0).milliseconds)) } ?? -1
    var sockets =
      [pollfd(fd: waker.descriptor, events: Int16(POLLIN), revents: 0)] + multis.flatMap(\.sockets)
    let count = poll(&sockets, nfds_t(sockets.count), milliseconds)
    if count > 0, sockets[0].revents != 0 { waker.clear() }
    ready = count > 0 ? sockets.dropFirst().filter { $0.revents != 0 } : []
    time.now = .now
  }

  /// Ends all transfers with an error.
  func stopAll(_ error: LoadError) {
    for transfer in running { stop(transfer, error) }
  }

  private func launch(_ transfer: Transfer) {
    transfer.begin()
    running.append(transfer)
    do throws(LoadError) {
      try transfer.handle.prepare(transfer)
    } catch {
      return stop(transfer, error)
    }
    guard latest.add(transfer.handle) else { return stop(transfer, Self.outOfMemory) }
    transfer.multi = latest
  }

  private func stop(_ transfer: Transfer, _ error: LoadError) {
    transfer.fail(error)
    finish(transfer, transfer.end(CURLE_ABORTED_BY_CALLBACK))
  }

  private func finish(_ transfer: Transfer, _ step: Transfer.EndStep) {
    transfer.multi?.remove(transfer.handle)
    transfer.multi = nil
    running.removeAll { $0 === transfer }
    switch step {
    case .follow: launch(transfer)
    case .end(let result):
      if spare.count < Self.maximumSpare { spare.append(transfer.handle) }
      transfer.order.complete(result)
    }
  }

  private static let outOfMemory = LoadError(.unavailable, message: "libcurl ran out of memory")
}

/// The time at which the thread last woke; all events until the next wake-up get this time.
///
/// Reading the clock for each header line would make a small image 1% slower.
final class LoopTime {
  var now = SuspendingClock.now
}
