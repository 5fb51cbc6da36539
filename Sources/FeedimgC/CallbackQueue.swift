import CFeedimg
import FeedimgSystem
import Glibc

/// A function of the program with its payload.
struct Callback<Function>: @unchecked Sendable {
  // Unchecked: the header tells the program on which thread the function runs.
  let function: Function
  let payload: UnsafeMutableRawPointer?

  /// - Returns: Nil for a function that is NULL.
  init?(_ function: Function?, _ payload: UnsafeMutableRawPointer?) {
    guard let function else { return nil }
    (self.function, self.payload) = (function, payload)
  }
}

/// The callbacks of one loader that wait for their thread; they run one at a time, in order.
final class CallbackQueue: Sendable {
  /// The number of an operation: a load, a prefetch, a slot or a watch.
  typealias Owner = Int

  private struct Entry: Sendable {
    let owner: Owner
    /// Whether the operation has ended with this callback.
    let isLast: Bool
    let run: @Sendable () -> Void
  }

  private struct State: Sendable {
    var waiting: [Entry] = []
    /// The operations that may call back, each with the function that ends it.
    var operations: [Owner: @Sendable () -> Void] = [:]
    var issued = 0
    /// The operation whose callback runs now, and its thread.
    var running: (owner: Owner, thread: pthread_t)?
    var isClosed = false
  }

  private let lock = ConditionLock(State())
  /// Readable while callbacks wait; nil if a thread of this queue runs them.
  private let waker: Waker?

  /// Makes a queue; a thread of it runs the callbacks, or ``dispatch()`` does.
  init(hasThread: Bool) throws(CallError) {
    waker = hasThread ? nil : Waker()
    guard hasThread || waker != nil else {
      throw CallError(FEEDIMG_ERROR_UNAVAILABLE, "no descriptor is left")
    }
    guard !hasThread || SystemThread.start("feedimg-calls", { [self] in runUntilClosed() }) else {
      throw CallError(FEEDIMG_ERROR_UNAVAILABLE, "no thread is left")
    }
  }

  /// The descriptor of ``feedimg_loader_fd``; nil if a thread of the queue runs the callbacks.
  var descriptor: Int32? { waker?.descriptor }

  /// Adds an operation, which may post until it is cancelled or its last callback has run.
  func register() -> Owner {
    lock.withLock { state in
      state.issued += 1
      state.operations[state.issued] = {}
      return state.issued
    }
  }

  /// Sets what stops an operation when the queue closes.
  fileprivate func whenClosed(_ owner: Owner, _ stop: @escaping @Sendable () -> Void) {
    let isClosed = lock.withLock { state in
      if !state.isClosed, state.operations[owner] != nil { state.operations[owner] = stop }
      return state.isClosed
    }
    if isClosed { stop() }
  }

  /// Adds a callback, unless its operation has been cancelled.
  ///
  /// - Parameters:
  ///   - owner: The operation.
  ///   - isLast: Whether the operation ends with this callback.
  ///   - isSignal: Whether a callback of the operation that waits already serves for this one.
  ///   - run: The callback.
  func post(
    _ owner: Owner,
    isLast: Bool = false,
    isSignal: Bool = false,
    _ run: @escaping @Sendable () -> Void
  ) {
    lock.withLock { state in
      guard state.operations[owner] != nil else { return }
      if isSignal, state.waiting.contains(where: { $0.owner == owner }) { return }
      state.waiting.append(Entry(owner: owner, isLast: isLast, run: run))
      if state.waiting.count == 1 { waker?.wake() }
    }
    if waker == nil { lock.signalAll() }
  }

  /// Removes an operation and its callbacks; waits for one that another thread runs.
  func cancel(_ owner: Owner) {
    let removed = lock.withLock { state in
      state.operations[owner] = nil
      let removed = state.waiting.filter { $0.owner == owner }
      state.waiting.removeAll { $0.owner == owner }
      if state.waiting.isEmpty { waker?.clear() }
      return removed
    }
    // Images of the removed callbacks are freed here, outside the lock.
    _ = removed
    waitForCallback { $0 == owner }
  }

  /// Ends all operations, removes all callbacks, and waits for one that another thread runs.
  func close() {
    let (removed, stops) = lock.withLock { state in
      defer { (state.isClosed, state.waiting, state.operations) = (true, [], [:]) }
      return (state.waiting, Array(state.operations.values))
    }
    _ = removed
    waker?.clear()
    lock.signalAll()
    for stop in stops { stop() }
    waitForCallback { _ in true }
  }

  /// Runs the callbacks that wait now; returns how many ran.
  func dispatch() -> Int {
    let waiting = lock.withLock { $0.waiting.count }
    var count = 0
    while count < waiting, let entry = lock.withLock({ next(&$0) }) {
      entry.run()
      end(entry)
      count += 1
    }
    return count
  }

  /// Takes the next callback; nil if none waits or another one runs.
  private func next(_ state: inout State) -> Entry? {
    guard state.running == nil, !state.waiting.isEmpty else { return nil }
    let entry = state.waiting.removeFirst()
    if state.waiting.isEmpty { waker?.clear() }
    state.running = (entry.owner, pthread_self())
    return entry
  }

  private func end(_ entry: Entry) {
    lock.withLock { state in
      state.running = nil
      if entry.isLast { state.operations[entry.owner] = nil }
    }
    lock.signalAll()
  }

  private func runUntilClosed() {
    while let entry = lock.wait({ state -> ConditionLock<State>.Step<Entry?> in
      if let entry = next(&state) { return .done(entry) }
      return state.isClosed ? .done(nil) : .wait
    }) {
      entry.run()
      end(entry)
    }
  }

  /// Waits while another thread runs a callback of such an operation.
  private func waitForCallback(of isMeant: (Owner) -> Bool) {
    lock.wait { state in
      guard let running = state.running, isMeant(running.owner),
        pthread_equal(running.thread, pthread_self()) == 0
      else { return ConditionLock<State>.Step<Void>.done(()) }
      return .wait
    }
  }
}

/// An operation that the program holds and may end: a load, a prefetch, a slot or a watch.
final class Operation: Sendable {
  private let callbacks: CallbackQueue
  private let owner: CallbackQueue.Owner
  private let stop: @Sendable () -> Void

  /// Makes an operation, which `stop` stops when it ends or when its loader is freed.
  init(_ callbacks: CallbackQueue, _ owner: CallbackQueue.Owner, stop: @escaping @Sendable () -> Void) {
    (self.callbacks, self.owner, self.stop) = (callbacks, owner, stop)
    callbacks.whenClosed(owner, stop)
  }

  /// Stops the operation; no callback of it runs afterwards.
  func end() {
    callbacks.cancel(owner)
    stop()
  }
}
