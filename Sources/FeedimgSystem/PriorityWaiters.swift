import Synchronization

/// Tasks that wait for one of a few places; the highest priority goes first, then the order of arrival.
package final class PriorityWaiters<Priority: Comparable & Sendable>: Sendable {
  package typealias Ticket = PriorityQueue<Priority>.Ticket

  private struct State: Sendable {
    var queue: PriorityQueue<Priority>
    var waiting: [Ticket: CheckedContinuation<Bool, Never>] = [:]
  }

  /// The queue; continuations are resumed outside the lock.
  private let state: Mutex<State>

  /// - Parameter places: The most tasks that have a place at the same time; at least one.
  package init(places: Int) { state = Mutex(State(queue: PriorityQueue(places: places))) }

  /// The number of tasks that wait for a place.
  package var count: Int { state.withLock { $0.queue.count } }

  /// Enters the queue; the caller must call ``leave(_:)`` later, even if it got no place.
  package func enter(_ priority: Priority) -> Ticket { state.withLock { $0.queue.enter(priority) } }

  /// Waits for a place; false if the task is cancelled before it gets a place.
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
    state.withLock { $0.queue.setPriority(ticket, priority) }
  }

  /// Passes the place to the next task, or stops waiting for a place.
  package func leave(_ ticket: Ticket) {
    let next = state.withLock { state in
      state.queue.leave(ticket).flatMap { state.waiting.removeValue(forKey: $0) }
    }
    next?.resume(returning: true)
  }
}

/// The queue of ``PriorityWaiters`` as a pure value, which decides the order of tickets.
package struct PriorityQueue<Priority: Comparable & Sendable>: Sendable {
  package struct Ticket: Hashable, Sendable {
    fileprivate let id: Int
  }

  private let places: Int
  private var running: Set<Ticket> = []
  /// The waiting tickets, in the order of arrival.
  private var waiting: [(ticket: Ticket, priority: Priority)] = []
  private var lastID = 0

  package init(places: Int) { self.places = max(1, places) }

  /// The number of tickets that wait for a place.
  package var count: Int { waiting.count }

  package func hasPlace(_ ticket: Ticket) -> Bool { running.contains(ticket) }

  package mutating func enter(_ priority: Priority) -> Ticket {
    lastID += 1
    let ticket = Ticket(id: lastID)
    if running.count < places { running.insert(ticket) } else { waiting.append((ticket, priority)) }
    return ticket
  }

  /// Changes the priority of a waiting ticket.
  package mutating func setPriority(_ ticket: Ticket, _ priority: Priority) {
    guard let index = waiting.firstIndex(where: { $0.ticket == ticket }) else { return }
    waiting[index].priority = priority
  }

  /// Removes a ticket.
  ///
  /// - Returns: The ticket that gets its place; nil if no place became free or no ticket waits.
  package mutating func leave(_ ticket: Ticket) -> Ticket? {
    guard running.remove(ticket) != nil else {
      waiting.removeAll { $0.ticket == ticket }
      return nil
    }
    let highest = waiting.map(\.priority).max()
    guard let index = waiting.firstIndex(where: { $0.priority == highest }) else { return nil }
    let next = waiting.remove(at: index).ticket
    running.insert(next)
    return next
  }
}
