import Synchronization

/// Tasks that wait for one of a few places; the highest priority goes first, then the order of arrival.
package final class PriorityWaiters<Priority: Comparable & Sendable>: Sendable {
  package struct Ticket: Hashable, Sendable {
    fileprivate let id: Int
  }

  private struct State: Sendable {
    var running: Set<Ticket> = []
    /// The tickets without a place, in the order of arrival.
    ///
    /// A task is nil until ``place(_:)`` is called.
    var waiting: [(ticket: Ticket, priority: Priority, task: CheckedContinuation<Bool, Never>?)] = []
    var lastID = 0
  }

  private let places: Int
  /// The queue; continuations are resumed outside the lock.
  private let state = Mutex(State())

  /// - Parameter places: The most tasks that have a place at the same time; at least one.
  package init(places: Int) { self.places = max(1, places) }

  /// The number of tasks that wait for a place.
  package var count: Int { state.withLock { $0.waiting.count } }

  /// Enters the queue; the caller must call ``leave(_:)`` later, even if it got no place.
  package func enter(_ priority: Priority) -> Ticket {
    state.withLock { state in
      state.lastID += 1
      let ticket = Ticket(id: state.lastID)
      if state.running.count < places {
        state.running.insert(ticket)
      } else {
        state.waiting.append((ticket, priority, nil))
      }
      return ticket
    }
  }

  /// Waits for a place; false if the task is cancelled before it gets a place.
  package func place(_ ticket: Ticket) async -> Bool {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let hasPlace = state.withLock { state -> Bool? in
          // After a later cancellation, `onCancel` finds the continuation.
          if Task.isCancelled { return false }
          guard let index = state.waiting.firstIndex(where: { $0.ticket == ticket }) else {
            return state.running.contains(ticket)
          }
          state.waiting[index].task = continuation
          return nil
        }
        if let hasPlace { continuation.resume(returning: hasPlace) }
      }
    } onCancel: {
      let task = state.withLock { state in
        state.waiting.firstIndex { $0.ticket == ticket }.flatMap { state.waiting[$0].task.take() }
      }
      task?.resume(returning: false)
    }
  }

  /// Changes the priority of a waiting task.
  package func setPriority(_ ticket: Ticket, _ priority: Priority) {
    state.withLock { state in
      guard let index = state.waiting.firstIndex(where: { $0.ticket == ticket }) else { return }
      state.waiting[index].priority = priority
    }
  }

  /// Passes the place to the next task, or stops waiting for a place.
  package func leave(_ ticket: Ticket) {
    let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
      guard state.running.remove(ticket) != nil else {
        state.waiting.removeAll { $0.ticket == ticket }
        return nil
      }
      let highest = state.waiting.map(\.priority).max()
      guard let index = state.waiting.firstIndex(where: { $0.priority == highest }) else { return nil }
      let next = state.waiting.remove(at: index)
      state.running.insert(next.ticket)
      return next.task
    }
    next?.resume(returning: true)
  }
}
