import CCurl
import FeedimgModel

/// The transfers under way and their handles; used by the transfer thread alone.
final class CurlLoop {
  private let library: CurlLibrary
  /// What waits, and can be woken.
  private(set) var multi: CurlMulti
  private let identity: CurlHandle.Identity
  private var running: [UnsafeMutableRawPointer: RunningTransfer] = [:]
  private var spare: [CurlHandle] = []
  /// When connections and names from before became useless; nil where there are none from before.
  private var validSince: SuspendingClock.Instant?
  private let clock = SuspendingClock()

  /// Handles kept for the next transfers, some 5 kB each.
  private static let greatestSpare = 16

  /// - Throws: ``LoadError`` with `unavailable` for want of memory.
  init(_ library: CurlLibrary, identity: CurlHandle.Identity) throws(LoadError) {
    guard let multi = CurlMulti(library) else { throw Self.outOfMemory }
    self.library = library
    self.multi = multi
    self.identity = identity
  }

  func start(_ order: CurlThread.Order) {
    guard let handle = spare.popLast() ?? CurlHandle(library) else {
      return order.answer(.failure(Self.outOfMemory))
    }
    launch(RunningTransfer(order, handle: handle, reach: identity.reach))
  }

  func cancel(_ id: CurlThread.Order.ID) {
    guard let transfer = running.values.first(where: { $0.order.id == id }) else { return }
    multi.remove(transfer.handle)
    finish(transfer, with: transfer.stop(LoadError(.cancelled, message: "cancelled")))
  }

  /// Moves everything on as far as it goes now.
  func step() {
    multi.perform()
    while let (easy, code) = multi.nextEnded() {
      guard let transfer = running[easy] else { continue }
      multi.remove(transfer.handle)
      finish(transfer, with: transfer.end(code))
    }
    let now = clock.now
    for transfer in running.values {
      guard let limit = transfer.patience.exceeded(at: now) else { continue }
      multi.remove(transfer.handle)
      finish(transfer, with: transfer.stop(limit))
    }
  }

  /// Waits until there is something to do, for ever where nothing runs.
  func wait() {
    guard let deadline = running.values.lazy.compactMap(\.patience.deadline).min() else {
      return multi.wait(milliseconds: .max)
    }
    multi.wait(milliseconds: Int32(clamping: max(0, clock.now.duration(to: deadline).milliseconds)))
  }

  /// Sees to it that no later transfer uses the connections and resolved names of now.
  ///
  /// What runs goes on. Idle connections are closed as soon as nothing runs.
  func forgetConnections() {
    validSince = clock.now
    replaceMultiWhenIdle()
  }

  /// A new set is the only way to close the idle connections of the old one.
  private func replaceMultiWhenIdle() {
    guard validSince != nil, running.isEmpty, let fresh = CurlMulti(library) else { return }
    multi = fresh
    validSince = nil
  }

  /// Ends everything.
  func endAll(_ error: LoadError) {
    for transfer in running.values {
      multi.remove(transfer.handle)
      finish(transfer, with: transfer.stop(error))
    }
    spare = []
  }

  private func launch(_ transfer: RunningTransfer) {
    do throws(LoadError) {
      try transfer.prepare(identity, connectionAge: validSince.map { $0.duration(to: clock.now) })
    } catch {
      return finish(transfer, with: transfer.stop(error))
    }
    running[transfer.handle.pointer] = transfer
    if !multi.add(transfer.handle) { finish(transfer, with: transfer.stop(Self.outOfMemory)) }
  }

  private func finish(_ transfer: RunningTransfer, with step: Transfer.EndStep) {
    running[transfer.handle.pointer] = nil
    if case .follow = step {} else { replaceMultiWhenIdle() }
    switch step {
    case .follow: return launch(transfer)
    case .succeed(let head): transfer.order.answer(.success(head))
    case .fail(let error): transfer.order.answer(.failure(error))
    }
    if spare.count < Self.greatestSpare { spare.append(transfer.handle) }
  }

  private static let outOfMemory = LoadError(.unavailable, message: "libcurl ran out of memory")
}
