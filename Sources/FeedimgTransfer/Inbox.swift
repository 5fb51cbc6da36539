import FeedimgModel

/// What other threads want of the one that transfers, until it comes to take it.
///
/// A pure state machine: each change answers with what the caller has to do outside the lock.
struct Inbox<Order: Identifiable & Sendable, Job: Sendable, Waker: Sendable>: Sendable
where Order.ID: Sendable {
  /// What a caller has to do next.
  enum Action: Sendable {
    /// The thread does not run yet.
    case startThread
    case wake(Waker)
    /// The thread will look by itself.
    case nothing
    /// Orders are no longer taken.
    case refuse(LoadError)
  }

  /// All that has come since the last batch.
  struct Batch: Sendable {
    var orders: [Order] = []
    var cancelled: [Order.ID] = []
    /// Steps of tasks that run on the thread.
    var jobs: [Job] = []
    /// Whether connections from before are to be used no more.
    var forgetsConnections = false
    /// Set when the thread is to give up everything and end.
    var ending: LoadError?

    /// Whether there is nothing in it.
    var isEmpty: Bool {
      orders.isEmpty && cancelled.isEmpty && jobs.isEmpty && !forgetsConnections && ending == nil
    }

    /// Makes room for what comes; jobs may wait.
    mutating func removeAllButJobs() {
      orders.removeAll(keepingCapacity: true)
      cancelled.removeAll(keepingCapacity: true)
      forgetsConnections = false
    }

    /// Adds what came after it, and leaves it empty but for its ending.
    fileprivate mutating func add(_ later: inout Batch) {
      Self.move(&later.orders, to: &orders)
      Self.move(&later.cancelled, to: &cancelled)
      Self.move(&later.jobs, to: &jobs)
      forgetsConnections = forgetsConnections || later.forgetsConnections
      later.forgetsConnections = false
      if let end = later.ending { ending = end }
    }

    /// What was used is used again.
    private static func move<Element: Sendable>(_ source: inout [Element], to destination: inout [Element]) {
      guard !source.isEmpty else { return }
      guard !destination.isEmpty else { return swap(&source, &destination) }
      destination += source
      source.removeAll(keepingCapacity: true)
    }
  }

  /// Whether the thread was ever asked to start.
  private(set) var isStarted = false
  private var waker: Waker?
  /// Whether the thread waits, and nobody has woken it yet.
  private var isWaiting = false
  private var batch = Batch()

  mutating func submit(_ order: Order) -> Action {
    if let ending = batch.ending { return .refuse(ending) }
    batch.orders.append(order)
    return startOrWakeUp()
  }

  mutating func enqueue(_ job: Job) -> Action {
    if let ending = batch.ending { return .refuse(ending) }
    batch.jobs.append(job)
    return startOrWakeUp()
  }

  /// Asks for the end of one transfer; harmless when it has ended, or was never submitted.
  mutating func cancel(_ id: Order.ID) -> Action {
    guard isStarted, batch.ending == nil else { return .nothing }
    batch.cancelled.append(id)
    return wakeUp()
  }

  /// Asks for connections from before to be used no more; where there are none, nothing happens.
  mutating func forgetConnections() -> Action {
    guard isStarted, batch.ending == nil else { return .nothing }
    batch.forgetsConnections = true
    return wakeUp()
  }

  /// Asks the thread to end, failing what it does and has not begun with `reason`.
  mutating func end(_ reason: LoadError) -> Action {
    guard batch.ending == nil else { return .nothing }
    batch.ending = reason
    return isStarted ? wakeUp() : .nothing
  }

  /// Whether the thread may wait; from then on it has to be woken.
  ///
  /// - Parameter waker: Tells how to wake it.
  /// - Returns: False when something has come already.
  mutating func mayWait(waking waker: Waker) -> Bool {
    isWaiting = batch.isEmpty
    self.waker = isWaiting ? waker : nil
    return isWaiting
  }

  /// Adds all to a batch, and empties the inbox; called by the thread after it has waited.
  ///
  /// A batch that says to end is the last, and from then on nothing can be woken.
  mutating func take(addingTo taken: inout Batch) {
    taken.add(&batch)
    isWaiting = false
    if taken.ending != nil { waker = nil }
  }

  private mutating func startOrWakeUp() -> Action {
    guard isStarted else {
      isStarted = true
      return .startThread
    }
    return wakeUp()
  }

  private mutating func wakeUp() -> Action {
    guard isWaiting, let waker else { return .nothing }
    isWaiting = false
    return .wake(waker)
  }
}
