import CCurl
import FeedimgModel

/// The transfers under way and their handles; used by the transfer thread alone.
struct CurlLoop: ~Copyable {
  private let library: CurlLibrary
  /// What waits, and can be woken.
  let multi: CurlMulti
  private let identity: CurlHandle.Identity
  /// Those whose transfers run, each of which knows its index.
  private var running: [CurlHandle] = []
  /// Those that are to begin.
  private var held = HeldOrders<TransferOrder>()
  private var spare: [CurlHandle] = []
  /// When to look at the time limits again: none runs out before; nil where there is none.
  private var review: Moment?
  /// Whether sockets are looked at even where there is something else to do.
  private var looksNext = false
  private let current = LoopStep()
  /// How often in a row more was expected, and the sockets not looked at.
  private var expectations = 0

  /// So often nothing is seen of other sockets, nor of what becomes due.
  private static let greatestExpectations = 8

  /// Handles kept for the next transfers, some 5 kB each.
  private static let greatestSpare = 32

  /// - Throws: ``LoadError`` with `unavailable` for want of memory.
  init(_ library: CurlLibrary, identity: CurlHandle.Identity) throws(LoadError) {
    guard let multi = CurlMulti(library) else { throw Self.outOfMemory }
    self.library = library
    self.multi = multi
    self.identity = identity
  }

  deinit { current.deallocate() }

  /// Begins the transfers, those that have to wait later; see ``HeldOrders``.
  mutating func take(_ orders: [TransferOrder]) {
    for order in orders {
      // Without TLS each has a connection of its own, whose buffers it fills alone.
      if order.request.url.isSecure { held.append(order, at: current.time) } else { start(order) }
    }
    startHeld(isIdle: false)
  }

  private mutating func startHeld(isIdle: Bool) {
    guard !held.isEmpty else { return }
    while let order = held.next(underWay: underWay, isIdle: isIdle, at: current.time) { start(order) }
  }

  /// How many bytes are still to come of what runs, probably.
  private var underWay: Int {
    let typical = held.typicalLength
    return running.reduce(0) { $0 + $1.place.pointee.transfer.missing(ofUnannounced: typical) }
  }

  private mutating func start(_ order: TransferOrder) {
    guard !order.isCancelled else { return order.answerCancelled() }
    guard let handle = spare.popLast() ?? CurlHandle(library, identity: identity) else {
      return order.answer(.failure(Self.outOfMemory))
    }
    handle.place.initialize(
      to: RunningTransfer(order, handle: handle, reach: identity.reach, step: current)
    )
    launch(handle)
  }

  mutating func cancel(_ id: TransferOrder.ID) {
    if let order = held.remove(id) { return order.answerCancelled() }
    guard let handle = running.first(where: { $0.place.pointee.order.id == id }) else { return }
    multi.remove(handle)
    finish(handle, with: handle.place.pointee.stop(LoadError(.cancelled, message: "cancelled")))
  }

  /// Moves everything on as far as it goes now.
  mutating func step() {
    current.hasBody = false
    multi.perform()
    while let (handle, code) = multi.nextEnded() {
      // What has ended leaves nothing to expect.
      current.hasBody = false
      multi.remove(handle)
      if let head = handle.place.pointee.succeed(code) {
        held.learn(length: handle.place.pointee.transfer.received)
        leave(handle)
        answer(handle, .success(head))
      } else {
        finish(handle, with: handle.place.pointee.end(code))
      }
    }
    // Not a later time: what came while others took theirs has not been seen yet.
    if let review, current.time >= review { reviewPatience(at: current.time) }
  }

  /// Gives up what has exceeded a limit.
  private mutating func reviewPatience(at now: Moment) {
    for handle in running {
      guard let limit = handle.place.pointee.patience.exceeded(at: now) else { continue }
      // Else all that follows would go out on a connection that may well be dead.
      if limit.isSilence, multi.isLatest(handle.pool), handle.mayShareConnection { multi.renew() }
      multi.remove(handle)
      finish(handle, with: handle.place.pointee.stop(limit))
    }
    review = running.lazy.map { $0.place.pointee.patience.earliestDeadline(at: now) }.min()
  }

  /// Whether to go on without a wait, as more has probably come of a body that came just now.
  ///
  /// Where bodies come as fast as they are taken, a look at the sockets each time is in vain.
  mutating func goesOn() -> Bool {
    guard current.hasBody, expectations < Self.greatestExpectations, multi.expectMore() else {
      expectations = 0
      return false
    }
    expectations += 1
    return true
  }

  /// Waits until there is something to do, for ever where nothing runs.
  ///
  /// - Parameter isIdle: Whether to wait at all; otherwise, what is there already is found.
  mutating func wait(isIdle: Bool) {
    // What has just ended may start others, which go first, once.
    guard isIdle || looksNext else {
      looksNext = true
      return
    }
    looksNext = false
    if running.isEmpty { review = nil }
    let isReady = multi.wait(milliseconds: isIdle && held.isEmpty ? timeToReview : 0)
    current.time = .now
    if !isReady { startHeld(isIdle: true) }
  }

  /// In milliseconds, rounded up.
  private var timeToReview: Int32 {
    guard let review else { return .max }
    return Int32(clamping: max(1, (Moment.now.nanoseconds(to: review) + 999_999) / 1_000_000))
  }

  /// Sees to it that no later transfer uses the connections and resolved names of now.
  ///
  /// What runs goes on. Idle connections are closed when the last of it has ended.
  func forgetConnections() { multi.renew() }

  /// Ends everything.
  mutating func endAll(_ error: LoadError) {
    for order in held.removeAll() { order.answer(.failure(error)) }
    for handle in running {
      multi.remove(handle)
      finish(handle, with: handle.place.pointee.stop(error))
    }
    spare = []
  }

  private mutating func launch(_ handle: CurlHandle) {
    handle.place.pointee.begin()
    do throws(LoadError) {
      try handle.prepare(handle.place.pointee.transfer)
    } catch {
      return finish(handle, with: handle.place.pointee.stop(error))
    }
    handle.index = running.count
    running.append(handle)
    let deadline = handle.place.pointee.patience.earliestDeadline(at: current.time)
    review = review.map { min($0, deadline) } ?? deadline
    if !multi.add(handle) { finish(handle, with: handle.place.pointee.stop(Self.outOfMemory)) }
  }

  private mutating func finish(_ handle: CurlHandle, with step: consuming Transfer.EndStep) {
    leave(handle)
    switch consume step {
    case .follow: launch(handle)
    case .succeed(let head): answer(handle, .success(head))
    case .fail(let error): answer(handle, .failure(error))
    }
  }

  private mutating func answer(_ handle: CurlHandle, _ result: consuming Result<ResponseHead, LoadError>) {
    handle.place.pointee.order.answer(result)
    handle.place.deinitialize(count: 1)
    if spare.count < Self.greatestSpare { spare.append(handle) }
  }

  /// Takes a handle from those that run; the last one takes its index.
  private mutating func leave(_ handle: CurlHandle) {
    guard let index = handle.index else { return }
    handle.index = nil
    running.swapAt(index, running.count - 1)
    running.removeLast()
    if index < running.count { running[index].index = index }
  }

  private static let outOfMemory = LoadError(.unavailable, message: "libcurl ran out of memory")
}
