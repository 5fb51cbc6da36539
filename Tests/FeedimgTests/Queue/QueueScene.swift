import FeedimgModel

@testable import Feedimg

/// A queue with the names that a test gives to its loads.
struct QueueScene {
  var queue: LoadQueue
  var now = Duration.zero
  var tickets: [String: LoadQueue.Ticket] = [:]
  /// Those of which something comes all the time.
  private var coming: Set<String> = []
  /// What happened, such as `start a`.
  var told: [String] = []

  init(_ limits: TransferLimits) { queue = LoadQueue(limits: limits) }

  mutating func enter(_ name: String, _ priority: LoadPriority, host: String = "h") {
    let (ticket, steps) = queue.enter(host: host, priority: priority, at: now)
    tickets[name] = ticket
    tell(steps)
  }

  mutating func end(_ name: String) {
    coming.remove(name)
    if let ticket = tickets[name] { tell(queue.leave(ticket, at: now)) }
  }

  mutating func stopped(_ name: String) {
    coming.remove(name)
    if let ticket = tickets[name] { tell(queue.stopped(ticket, at: now)) }
  }

  mutating func set(_ name: String, _ priority: LoadPriority) {
    if let ticket = tickets[name] { tell(queue.setPriority(ticket, priority, at: now)) }
  }

  /// Its body begins to come, and goes on until it ends or is ``silent(_:)``.
  mutating func answer(_ name: String) {
    coming.insert(name)
    if let ticket = tickets[name] { tell(queue.answered(ticket, at: now)) }
  }

  mutating func keepGoing(_ name: String) {
    if let ticket = tickets[name] { queue.setStoppable(ticket, false) }
  }

  mutating func set(slowHosts: Set<String>) {
    var limits = queue.limits
    limits.slowHosts = slowHosts
    tell(queue.setLimits(limits, at: now))
  }

  /// No more of it comes for now.
  mutating func silent(_ name: String) { coming.remove(name) }

  mutating func pass(_ time: Duration) {
    now += time
    for name in coming.sorted() { answer(name) }
    tell(queue.tick(at: now))
  }

  mutating func tell(_ steps: [LoadQueue.Step]) {
    for step in steps {
      switch step {
      case .start(let ticket): told.append("start \(name(ticket))")
      case .stop(let ticket): told.append("stop \(name(ticket))")
      }
    }
  }

  private func name(_ ticket: LoadQueue.Ticket) -> String {
    tickets.first { $0.value == ticket }?.key ?? "a stranger"
  }

  /// What happened since the last look.
  mutating func news() -> [String] {
    defer { told = [] }
    return told
  }
}
