import FeedimgModel

/// Who decodes now, and who waits for it (pure).
///
/// The most urgent goes first, of equals the one that came first. A class that could not begin anything for a while
/// goes before the others, once, so that none waits for ever. What has begun is not interrupted.
struct DecodingLine: Sendable {
  /// One who decodes or waits.
  struct Ticket: Hashable, Sendable {
    fileprivate let number: Int
  }

  /// So long a class waits without beginning anything before the next place is its own, as in ``SchedulerState``.
  static let patience = SchedulerState.starvationLimit(of: .prefetch)

  private let width: Int
  private var running: [Ticket: LoadPriority] = [:]
  /// In the order in which they came.
  private var waiting: [(ticket: Ticket, priority: LoadPriority)] = []
  /// Since when a class has been waiting without anything running.
  private var hungrySince: [LoadPriority: Duration] = [:]
  private var issued = 0

  /// - Parameter width: The most that decode at once.
  init(width: Int) { self.width = max(1, width) }

  /// How many wait.
  var count: Int { waiting.count }

  /// Asks for a place, which may be there at once.
  mutating func enter(_ priority: LoadPriority, at now: Duration) -> Ticket {
    issued += 1
    let ticket = Ticket(number: issued)
    if running.count < width {
      running[ticket] = priority
    } else {
      waiting.append((ticket, priority))
    }
    lookForHunger(at: now)
    return ticket
  }

  func isRunning(_ ticket: Ticket) -> Bool { running[ticket] != nil }

  mutating func setPriority(_ ticket: Ticket, _ priority: LoadPriority, at now: Duration) {
    if running[ticket] != nil { running[ticket] = priority }
    if let index = waiting.firstIndex(where: { $0.ticket == ticket }) { waiting[index].priority = priority }
    lookForHunger(at: now)
  }

  /// Gives up a place, or the wait for one.
  ///
  /// - Returns: Who has the place now.
  mutating func leave(_ ticket: Ticket, at now: Duration) -> Ticket? {
    defer { lookForHunger(at: now) }
    guard running.removeValue(forKey: ticket) != nil else {
      waiting.removeAll { $0.ticket == ticket }
      return nil
    }
    guard let index = next(at: now) else { return nil }
    let chosen = waiting.remove(at: index)
    running[chosen.ticket] = chosen.priority
    return chosen.ticket
  }

  /// Whose turn it is, by its place among those who wait.
  private func next(at now: Duration) -> Int? {
    let starving = hungrySince.filter { now - $0.value >= Self.patience }
    // Who has waited longest, of equals the more urgent.
    let first = starving.min { ($0.value, $1.key) < ($1.value, $0.key) }
    let priority = first?.key ?? waiting.map(\.priority).max()
    return waiting.firstIndex { $0.priority == priority }
  }

  private mutating func lookForHunger(at now: Duration) {
    for priority in LoadPriority.allCases where priority != .visible {
      let isHungry =
        waiting.contains { $0.priority == priority } && !running.values.contains(priority)
      hungrySince[priority] = isHungry ? hungrySince[priority] ?? now : nil
    }
  }
}
