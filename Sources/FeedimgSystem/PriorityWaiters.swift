import Synchronization

/// Tasks that wait for one of a few places; the highest priority goes first, then the order of arrival.
///
/// To prevent starvation, a priority that has waited ten seconds without a place goes first once.
package final class PriorityWaiters<Priority: Comparable & Hashable & Sendable>: Sendable {
  package typealias Ticket = PriorityQueue<Priority>.Ticket

  private struct State: Sendable {
    var queue: PriorityQueue<Priority>
    var waiting: [Ticket: CheckedContinuation<Bool, Never>] = [:]
  }

  private let time: MonotonicTime
  /// The queue; continuations are resumed outside the lock.
  private let state: Mutex<State>

  /// - Parameters:
  ///   - places: The most tasks that have a place at the same time; at least one.
  ///   - time: The clock that measures starvation.
  package init(places: Int, _ time: MonotonicTime) {
    self.time = time
    state = Mutex(State(queue: PriorityQueue(places: places)))
  }

  /// The number of tasks that wait for a place.
  package var count: Int { state.withLock { $0.queue.count } }

  /// Enters the queue; the caller must call ``leave(_:)`` later, even if it got no place.
  package func enter(_ priority: Priority) -> Ticket {
    let now = time.now()
    return state.withLock { $0.queue.enter(priority, at: now) }
  }

  /// Waits for a place.
  ///
  /// - Returns: False if the task is cancelled before it gets a place.
  package func place(_ ticket: Ticket) async -> Bool {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let hasPlace = state.withLock { state -> Bool? in
          // After a later cancellation, `onCancel` finds the continuation.
          if Task.isCancelled { return false }
          if state.queue.hasPlace(ticket) { return true }
          state.waiting[ticket] = continuation
          return nil
        }
        if let hasPlace { continuation.resume(returning: hasPlace) }
      }
    } onCancel: {
      state.withLock { $0.waiting.removeValue(forKey: ticket) }?.resume(returning: false)
    }
  }

  package func setPriority(_ ticket: Ticket, _ priority: Priority) {
    let now = time.now()
    state.withLock { $0.queue.setPriority(ticket, priority, at: now) }
  }

  /// Passes the place to the next task, or stops waiting for a place.
  package func leave(_ ticket: Ticket) {
    let now = time.now()
    let next = state.withLock { state in
      state.queue.leave(ticket, at: now).flatMap { state.waiting.removeValue(forKey: $0) }
    }
    next?.resume(returning: true)
  }
}

/// The queue of ``PriorityWaiters`` as a pure value, which decides the order of tickets.
package struct PriorityQueue<Priority: Comparable & Hashable & Sendable>: Sendable {
  package struct Ticket: Hashable, Sendable {
    fileprivate let id: Int
  }

  /// The time after which a priority without a place goes first.
  package static var starvationLimit: Duration { .seconds(10) }

  private let places: Int
  private var running: [Ticket: Priority] = [:]
  /// The waiting tickets, in the order of arrival.
  private var waiting: [(ticket: Ticket, priority: Priority)] = []
  /// For each priority that waits without a place, the time at which this began.
  private var starvingSince: [Priority: Duration] = [:]
  private var lastID = 0

  package init(places: Int) { self.places = max(1, places) }

  /// The number of tickets that wait for a place.
  package var count: Int { waiting.count }

  package func hasPlace(_ ticket: Ticket) -> Bool { running[ticket] != nil }

  package mutating func enter(_ priority: Priority, at now: Duration) -> Ticket {
    lastID += 1
    let ticket = Ticket(id: lastID)
    if running.count < places { running[ticket] = priority } else { waiting.append((ticket, priority)) }
    noteStarving(at: now)
    return ticket
  }

  package mutating func setPriority(_ ticket: Ticket, _ priority: Priority, at now: Duration) {
    if running[ticket] != nil { running[ticket] = priority }
    if let index = waiting.firstIndex(where: { $0.ticket == ticket }) { waiting[index].priority = priority }
    noteStarving(at: now)
  }

  /// Removes a ticket.
  ///
  /// - Returns: The ticket that gets its place; nil if no place became free or no ticket waits.
  package mutating func leave(_ ticket: Ticket, at now: Duration) -> Ticket? {
    defer { noteStarving(at: now) }
    guard running.removeValue(forKey: ticket) != nil else {
      waiting.removeAll { $0.ticket == ticket }
      return nil
    }
    guard let index = nextIndex(at: now) else { return nil }
    let next = waiting.remove(at: index)
    running[next.ticket] = next.priority
    return next.ticket
  }

  private func nextIndex(at now: Duration) -> Int? {
    // Of several starving priorities, the longest wait goes first; of equal waits, the higher priority.
    let starving = starvingSince.filter { now - $0.value >= Self.starvationLimit }
      .min { ($0.value, $1.key) < ($1.value, $0.key) }
    let priority = starving?.key ?? waiting.map(\.priority).max()
    return waiting.firstIndex { $0.priority == priority }
  }

  private mutating func noteStarving(at now: Duration) {
    let starving = Set(waiting.map(\.priority)).subtracting(running.values)
    starvingSince = starvingSince.filter { starving.contains($0.key) }
    for priority in starving where starvingSince[priority] == nil { starvingSince[priority] = now }
  }
}
