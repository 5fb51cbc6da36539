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
  /// When to look at the time limits again: none runs out before; nil where there is none.
  private var review: SuspendingClock.Instant?
  /// Whether sockets are looked at even where there is something else to do.
  private var looksNext = false
  private let clock = SuspendingClock()
  private let time = StepTime()

  /// Handles kept for the next transfers, some 5 kB each.
  private static let greatestSpare = 32

  /// - Throws: ``LoadError`` with `unavailable` for want of memory.
  init(_ library: CurlLibrary, identity: CurlHandle.Identity) throws(LoadError) {
    guard let multi = CurlMulti(library) else { throw Self.outOfMemory }
    self.library = library
    self.multi = multi
    self.identity = identity
  }

  func start(_ order: CurlThread.Order) {
    guard let handle = spare.popLast() ?? CurlHandle(library, identity: identity) else {
      return order.answer(.failure(Self.outOfMemory))
    }
    launch(RunningTransfer(order, handle: handle, reach: identity.reach, time: time))
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
    // Not a later time: what came while others took theirs has not been seen yet.
    if let review, time.now >= review { reviewPatience(at: time.now) }
  }

  /// Gives up what has exceeded a limit.
  private func reviewPatience(at now: SuspendingClock.Instant) {
    for transfer in running.values {
      guard let limit = transfer.patience.exceeded(at: now) else { continue }
      multi.remove(transfer.handle)
      finish(transfer, with: transfer.stop(limit))
    }
    review = running.values.lazy.map { $0.patience.earliestDeadline(at: now) }.min()
  }

  /// Waits until there is something to do, for ever where nothing runs.
  ///
  /// - Parameter isIdle: Whether to wait at all; otherwise, what is there already is found.
  func wait(isIdle: Bool) {
    // What has just ended may start others, which go first, once.
    guard isIdle || looksNext else {
      looksNext = true
      return
    }
    looksNext = false
    defer { time.now = clock.now }
    guard isIdle else { return multi.wait(milliseconds: 0) }
    if running.isEmpty { review = nil }
    multi.wait(
      milliseconds: review.map { Int32(clamping: max(1, clock.now.duration(to: $0).milliseconds)) } ?? .max
    )
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
      try transfer.prepare(connectionAge: validSince.map { $0.duration(to: clock.now) })
    } catch {
      return finish(transfer, with: transfer.stop(error))
    }
    running[transfer.handle.pointer] = transfer
    let deadline = transfer.patience.earliestDeadline(at: time.now)
    review = min(review ?? deadline, deadline)
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
