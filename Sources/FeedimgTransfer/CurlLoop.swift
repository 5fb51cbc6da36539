import CCurl
import FeedimgModel

/// The running transfers and their handles; curl's thread alone uses it.
final class CurlLoop {
  private let library: CurlLibrary
  private let identity: CurlHandle.Identity
  private let time = LoopTime()
  private let sockets = OpenSockets()
  private var running: [Transfer] = []
  /// Handles kept for later transfers.
  private var spare: [CurlHandle] = []
  /// Runs all transfers that begin.
  private(set) var latest: CurlMulti
  /// Handles replaced since, as long as transfers run in them.
  ///
  /// libcurl has no other way to keep connections for running transfers alone.
  private var older: [CurlMulti] = []

  /// Some 5 kB each.
  private static let greatestSpare = 32

  /// How long the thread sleeps at most while it has older multi handles: it can wait for the latest alone.
  ///
  /// Right after a change of network, older transfers may be that much slower.
  private static let greatestWaitWithOlder: Int32 = 10

  /// - Throws: ``LoadError`` with `unavailable` for want of memory.
  init(_ library: CurlLibrary, identity: CurlHandle.Identity) throws(LoadError) {
    guard let multi = CurlMulti(library) else { throw Self.outOfMemory }
    self.library = library
    self.identity = identity
    latest = multi
  }

  func start(_ order: TransferOrder) {
    guard !order.isCancelled else { return order.answerCancelled() }
    guard let handle = spare.popLast() ?? CurlHandle(library, identity: identity) else {
      return order.answer(.failure(Self.outOfMemory))
    }
    launch(Transfer(order, on: handle, addresses: identity.addresses, time: time, sockets: sockets))
  }

  func cancel(_ order: TransferOrder) {
    guard let transfer = running.first(where: { $0.order === order }) else { return }
    stop(transfer, LoadError(.cancelled, message: "cancelled"))
  }

  /// Gives later transfers new connections and name look-ups; running transfers continue.
  ///
  /// Idle connections close when the last running transfer has ended. For want of memory, nothing changes.
  func forgetConnections() {
    guard let multi = CurlMulti(library) else { return }
    if latest.count > 0 { older.append(latest) }
    latest = multi
  }

  /// Moves everything on as far as possible without waiting.
  func step() {
    for multi in older + [latest] {
      multi.perform()
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
      // Otherwise later transfers would use a connection that may well be dead.
      let isShared = transfer.url.isSecure && transfer.handle.mayShareConnection
      if limit.isSilence, isShared, transfer.multi === latest { forgetConnections() }
      stop(transfer, CurlOutcome.error(limit, transfer.progress))
    }
    older.removeAll { $0.count == 0 }
  }

  /// Waits until there is something to do, for ever where nothing runs.
  ///
  /// - Parameter mayBlock: False where there is something to do already.
  func wait(mayBlock: Bool) {
    if mayBlock {
      var end: Int64 = .max
      for transfer in running {
        guard let next = transfer.timeouts.next?.end else { continue }
        end = min(end, max(1, time.now.duration(to: next).milliseconds))
      }
      latest.poll(milliseconds: min(Int32(clamping: end), older.isEmpty ? .max : Self.greatestWaitWithOlder))
    }
    time.now = .now
  }

  /// Ends everything.
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
      if spare.count < Self.greatestSpare { spare.append(transfer.handle) }
      transfer.order.answer(result)
    }
  }

  private static let outOfMemory = LoadError(.unavailable, message: "libcurl ran out of memory")
}

/// When the thread last looked for what has come, which counts as the time of all that follows.
///
/// A clock read for each line of a head would take a hundredth of the time of a small image.
final class LoopTime {
  var now = SuspendingClock.now
}
