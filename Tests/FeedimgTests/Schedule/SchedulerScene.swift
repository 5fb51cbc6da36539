import FeedimgModel

@testable import Feedimg
@testable import FeedimgPipeline

/// A scheduler state with names for the downloads of a test.
struct SchedulerScene {
  var state: SchedulerState
  private(set) var now = Duration.zero
  private var tickets: [String: SchedulerState.Ticket] = [:]
  /// The downloads that receive bytes whenever time passes.
  private var receiving: Set<String> = []
  /// The downloads whose bytes cannot be resumed.
  private var unresumable: Set<SchedulerState.Ticket> = []
  /// The recorded actions, such as `start a`.
  private var told: [String] = []

  init(_ limits: TransferLimits, interval: Duration = .zero) {
    state = SchedulerState(limits: limits, interval: interval)
  }

  mutating func enter(_ name: String, _ priority: LoadPriority, host: String = "h") {
    tickets[name] = state.enter(host: host, priority: priority)
    advance()
  }

  mutating func end(_ name: String) {
    receiving.remove(name)
    if let ticket = tickets[name] { state.leave(ticket) }
    advance()
  }

  /// The transfer of a download ended without the complete response.
  mutating func stopped(_ name: String) {
    receiving.remove(name)
    if let ticket = tickets[name] { state.stopped(ticket, at: now) }
    advance()
  }

  mutating func set(_ name: String, _ priority: LoadPriority) {
    if let ticket = tickets[name] { state.setPriority(ticket, priority) }
    advance()
  }

  mutating func set(_ limits: TransferLimits) {
    state.setLimits(limits)
    advance()
  }

  /// A body receives a mebibyte now and whenever time passes, until its end or ``silence(_:)``.
  mutating func receive(_ name: String) {
    receiving.insert(name)
    receive(name, bytes: 1 << 20)
  }

  /// This many bytes of a body arrive.
  mutating func receive(_ name: String, bytes: Int) {
    if let ticket = tickets[name] { state.received(ticket, bytes, at: now) }
    advance()
  }

  /// The bytes of a download cannot be resumed.
  mutating func refusePreemption(_ name: String) {
    if let ticket = tickets[name] { unresumable.insert(ticket) }
  }

  /// No more bytes of a body arrive for now.
  mutating func silence(_ name: String) { receiving.remove(name) }

  /// Advances the clock and acts at each deadline on the way.
  mutating func pass(_ time: Duration) {
    let end = now + time
    while let deadline = state.deadline, deadline < end { pass(until: deadline) }
    pass(until: end)
  }

  private mutating func pass(until time: Duration) {
    now = time
    for name in receiving.sorted() {
      if let ticket = tickets[name] { state.received(ticket, 1 << 20, at: now) }
    }
    advance()
  }

  private mutating func advance() {
    let unresumable = unresumable
    for action in state.advance(at: now, preempt: { !unresumable.contains($0) }) {
      switch action {
      case .start(let ticket): told.append("start \(name(ticket))")
      case .preempt(let ticket): told.append("preempt \(name(ticket))")
      }
    }
  }

  private func name(_ ticket: SchedulerState.Ticket) -> String {
    tickets.first { $0.value == ticket }?.key ?? "an unknown download"
  }

  /// The actions since the last call.
  mutating func news() -> [String] {
    defer { told = [] }
    return told
  }
}
