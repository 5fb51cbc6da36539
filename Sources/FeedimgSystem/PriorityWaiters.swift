import Synchronization

/// Tasks that wait for one of a few places; the highest priority goes first, then the order of arrival.
///
/// A lower priority that could start nothing for ten seconds goes first once, so that no task starves.
package final class PriorityWaiters<Priority: Comparable & Hashable & Sendable>: Sendable {
  package typealias Ticket = PriorityQueue<Priority>.Ticket

  private struct State: Sendable {
    var queue: PriorityQueue<Priority>
    var waiting: [Ticket: CheckedContinuation<Bool, Never>] = [:]
  }

  private let time: MonotonicTime
  /// Guards the queue; continuations are resumed outside.
  private let state: Mutex<State>

  /// - Parameters:
  ///   - places: The most tasks that have a place at once; at least one.
  ///   - time: For starvation.
  package init(places: Int, _ time: MonotonicTime) {
    self.time = time
    state = Mutex(State(queue: PriorityQueue(places: places)))
  }

  /// The number of tasks that wait for a place.
  package var count: Int { state.withLock { $0.queue.count } }

  /// Enters the queue; ``leave(_:)`` must follow, whether or not a place came.
  package func enter(_ priority: Priority) -> Ticket {
    let now = time.now()
    return state.withLock { $0.queue.enter(priority, at: now) }
  }

  /// Waits for a place.
  ///
  /// - Returns: False if the task is cancelled first, also before this call.
  package func place(_ ticket: Ticket) async -> Bool {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let hasPlace = state.withLock { state -> Bool? in
          // A cancellation after this line finds the continuation.
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

  /// Gives up a place, which goes to the next task, or stops waiting for one.
  package func leave(_ ticket: Ticket) {
    let now = time.now()
    let next = state.withLock { state in
      state.queue.leave(ticket, at: now).flatMap { state.waiting.removeValue(forKey: $0) }
    }
    next?.resume(returning: true)
  }
}

/// Decides the order in which ``PriorityWaiters`` gives places (pure).
package struct PriorityQueue<Priority: Comparable & Hashable & Sendable>: Sendable {
  package struct Ticket: Hashable, Sendable {
    fileprivate let id: Int
  }

  /// How long a priority waits without a place before it goes first.
  package static var patience: Duration { .seconds(10) }

  private let places: Int
  private var running: [Ticket: Priority] = [:]
  /// In the order of arrival.
  private var waiting: [(ticket: Ticket, priority: Priority)] = []
  /// By priority, the time since when it waits while none of it runs.
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
  /// - Returns: The ticket that gets its place.
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
    // The longest wait goes first; of equal waits, the higher priority.
    let starving = starvingSince.filter { now - $0.value >= Self.patience }
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
