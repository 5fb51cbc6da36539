import FeedimgModel

/// Who decodes now, and who waits for it (pure).
///
/// The most urgent goes first, of equals the one that came first. What has begun is not interrupted.
struct DecodingLine: Sendable {
  /// One who decodes or waits.
  struct Ticket: Hashable, Sendable {
    fileprivate let number: Int
  }

  private let width: Int
  private var running: Set<Ticket> = []
  /// In the order in which they came.
  private var waiting: [(ticket: Ticket, priority: LoadPriority)] = []
  private var issued = 0

  /// - Parameter width: The most that decode at once.
  init(width: Int) { self.width = max(1, width) }

  /// How many wait.
  var count: Int { waiting.count }

  /// Asks for a place, which may be there at once.
  mutating func enter(_ priority: LoadPriority) -> Ticket {
    issued += 1
    let ticket = Ticket(number: issued)
    if running.count < width {
      running.insert(ticket)
    } else {
      waiting.append((ticket, priority))
    }
    return ticket
  }

  func isRunning(_ ticket: Ticket) -> Bool { running.contains(ticket) }

  mutating func setPriority(_ ticket: Ticket, _ priority: LoadPriority) {
    guard let index = waiting.firstIndex(where: { $0.ticket == ticket }) else { return }
    waiting[index].priority = priority
  }

  /// Gives up a place, or the wait for one.
  ///
  /// - Returns: Who has the place now.
  mutating func leave(_ ticket: Ticket) -> Ticket? {
    guard running.remove(ticket) != nil else {
      waiting.removeAll { $0.ticket == ticket }
      return nil
    }
    var next: Int?
    for index in waiting.indices where next.map({ waiting[index].priority > waiting[$0].priority }) ?? true {
      next = index
    }
    guard let next else { return nil }
    let chosen = waiting.remove(at: next).ticket
    running.insert(chosen)
    return chosen
  }
}
