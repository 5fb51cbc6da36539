import CCurl
import FeedimgModel
import FeedimgSystem
import Glibc

/// The running transfers of a downloader and their handles; only the executor's thread uses it.
final class CurlLoop {
  private let library: CurlLibrary
  private let identity: CurlHandle.Identity
  private let time: LoopTime
  private let shared: Transfer.Shared
  private var running: [Transfer] = []
  /// Idle handles for later transfers.
  private var spare: [CurlHandle] = []
  /// The multi handle for new transfers.
  private var latest: CurlMulti
  /// Multi handles that ``forgetConnections()`` replaced and in which transfers still run.
  ///
  /// In libcurl, only a new multi handle keeps new transfers from using old connections.
  private var older: [CurlMulti] = []

  /// The most idle handles to keep; each takes about 5 kB.
  private static let maximumSpare = 32

  /// - Throws: ``LoadError`` with `unavailable` if memory runs out.
  init(_ library: CurlLibrary, identity: CurlHandle.Identity) throws(LoadError) {
    let time = LoopTime()
    guard let multi = CurlMulti(library, time: time) else { throw Self.outOfMemory }
    self.library = library
    self.identity = identity
    self.time = time
    shared = Transfer.Shared(
      addresses: identity.addresses,
      proxy: identity.proxy,
      time: time,
      sockets: OpenSockets()
    )
    latest = multi
  }

  /// Whether no transfer runs.
  var isIdle: Bool { running.isEmpty }

  /// The sockets that libcurl waits for.
  var sockets: [pollfd] { multis.flatMap(\.sockets) }

  /// When libcurl or a time limit must be looked at; nil for never.
  var deadline: SuspendingClock.Instant? {
    (multis.map(\.deadline) + running.map { $0.timeouts.next?.end }).compactMap { $0 }.min()
  }

  private var multis: [CurlMulti] { older + [latest] }

  func start(_ order: TransferOrder) {
    time.now = .now
    guard !order.isCancelled else { return order.completeCancelled() }
    guard let handle = spare.popLast() ?? CurlHandle(library, identity: identity) else {
      return order.complete(.failure(Self.outOfMemory))
    }
    launch(Transfer(order, on: handle, shared))
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
  ///
  /// - Parameter ready: What poll(2) found.
  func step(_ ready: [pollfd]) {
    time.now = .now
    for multi in multis {
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
    older.removeAll { $0.count == 0 }
    switch step {
    case .follow: launch(transfer)
    case .end(let result):
      if spare.count < Self.maximumSpare { spare.append(transfer.handle) }
      transfer.order.complete(result)
    }
  }

  private static let outOfMemory = LoadError(.unavailable, message: "libcurl ran out of memory")
}

/// The time at which the thread last looked at the sockets; all events until the next look get this time.
///
/// Reading the clock for each header line would make a small image 1% slower.
final class LoopTime {
  var now = SuspendingClock.now
}
