import FeedimgModel

/// Which downloads run and which wait (pure).
///
/// Priorities go in order: visible, near, prefetch. Within a priority the hosts take turns, and a host's downloads start in
/// the order in which they came. Four rules bound this order:
///
/// - **Limits.** At most ``TransferLimits/total`` downloads run, ``TransferLimits/perHost`` of them to one host, and
///   ``TransferLimits/besideUrgent`` of them below the most urgent priority that runs or could start.
/// - **Preemption.** A visible download that finds no slot takes the slot of the least urgent download that can be
///   resumed, the latest started first.
/// - **Stalls.** A download that brings nothing for a while, or almost nothing, does not count for other hosts. At most
///   ``TransferLimits/total`` downloads are left out so, and therefore at most twice the limit run.
/// - **Starvation.** A priority that could start nothing for ten seconds (visible: one second) gets a slot beyond the
///   limits. Visible downloads of a host of which nothing runs get one as well, so that slow hosts never hold them up.
///
/// Times come from a clock that never jumps.
struct SchedulerState: Sendable {
  /// One download.
  struct Ticket: Hashable, Sendable {
    fileprivate let number: Int
  }

  /// What the shell must do.
  enum Action: Hashable, Sendable {
    /// The download has a slot: begin or resume it.
    case start(Ticket)
    /// The download has lost its slot: end the transfer, then call ``stopped(_:at:)`` or ``leave(_:)``.
    case preempt(Ticket)
  }

  private enum Phase: Sendable {
    case waiting
    case running
    /// It has lost its slot, and its transfer is ending.
    case stopping
  }

  private struct Entry: Sendable {
    let host: String
    var priority: LoadPriority
    var phase = Phase.waiting
    /// Its place in its priority.
    var turn: Int
    /// When it started, counted.
    var started = 0
    /// Whether its slot is beyond the limits.
    var isExtra = false
    /// Bytes of the body in the window that began then.
    var window = (start: Duration.zero, bytes: 0)
    var hasBody = false
    var isStalled = false
    /// Whether a preemption was refused, as its bytes could not be resumed.
    var refusedPreemption = false
  }

  /// A download without a byte of the body for so long is stalled: most responses begin within a round trip or two.
  static let responsePatience = Duration.seconds(1)
  /// A download that brings less than ``leastBytes`` in so long is stalled; this is found in at most twice the time.
  static let bodyPatience = Duration.seconds(2)
  static let leastBytes = 1 << 10
  /// So long a priority waits without starting anything before it gets a slot beyond the limits.
  static func starvationLimit(of priority: LoadPriority) -> Duration {
    priority == .visible ? .seconds(1) : .seconds(10)
  }

  private(set) var limits: TransferLimits
  private var entries: [Ticket: Entry] = [:]
  /// The downloads of each priority and host that wait, by their turns.
  private var waiting: [LoadPriority: [String: [Ticket]]] = [:]
  private var running: Set<Ticket> = []
  /// When each host started a download last, counted.
  private var lastStart: [String: Int] = [:]
  private var starvingSince: [LoadPriority: Duration] = [:]
  /// Counts tickets, turns and starts.
  private var count = 0

  init(limits: TransferLimits) { self.limits = limits }

  var isEmpty: Bool { entries.isEmpty }

  func isRunning(_ ticket: Ticket) -> Bool { running.contains(ticket) }

  /// Nil where the download has left.
  func priority(of ticket: Ticket) -> LoadPriority? { entries[ticket]?.priority }

  /// Whether the download was found stalled, and has brought next to nothing since.
  func isStalled(_ ticket: Ticket) -> Bool { entries[ticket]?.isStalled ?? false }

  // MARK: Changes

  mutating func enter(host: String, priority: LoadPriority) -> Ticket {
    let ticket = Ticket(number: next())
    let entry = Entry(host: host, priority: priority, turn: ticket.number)
    entries[ticket] = entry
    enqueue(ticket, entry)
    return ticket
  }

  /// Changes the priority of a download, which then waits as the last of its new priority.
  mutating func setPriority(_ ticket: Ticket, _ priority: LoadPriority) {
    guard var entry = entries[ticket], entry.priority != priority else { return }
    if entry.phase == .waiting { dequeue(ticket, entry) }
    (entry.priority, entry.turn) = (priority, next())
    entries[ticket] = entry
    if entry.phase == .waiting { enqueue(ticket, entry) }
  }

  /// Bytes of the body have come since the last call.
  mutating func received(_ ticket: Ticket, _ bytes: Int, at now: Duration) {
    guard var entry = entries[ticket], entry.phase == .running, bytes > 0 else { return }
    let age = now - entry.window.start
    if !entry.hasBody || entry.isStalled && age >= Self.bodyPatience {
      (entry.hasBody, entry.window) = (true, (now, bytes))
    } else if !entry.isStalled, age >= Self.bodyPatience / 2, entry.window.bytes >= Self.leastBytes {
      entry.window = (now, bytes)
    } else {
      entry.window.bytes += bytes
    }
    // A byte now and then does not end a stall.
    if entry.isStalled, entry.window.bytes >= Self.leastBytes {
      (entry.isStalled, entry.window.start) = (false, now)
    }
    entries[ticket] = entry
  }

  /// The transfer has ended without the whole response: it waits again, or begins anew in the slot that it still has.
  mutating func stopped(_ ticket: Ticket, at now: Duration) {
    guard var entry = entries[ticket] else { return }
    switch entry.phase {
    case .waiting: return
    case .running:
      (entry.hasBody, entry.isStalled, entry.window, entry.refusedPreemption) = (
        false, false, (now, 0), false
      )
      entries[ticket] = entry
    case .stopping:
      (entry.phase, entry.isExtra) = (.waiting, false)
      entries[ticket] = entry
      enqueue(ticket, entry)
    }
  }

  /// The download has ended, or no caller wants it any more.
  mutating func leave(_ ticket: Ticket) {
    guard let entry = entries.removeValue(forKey: ticket) else { return }
    running.remove(ticket)
    if entry.phase == .waiting { dequeue(ticket, entry) }
  }

  mutating func setLimits(_ limits: TransferLimits) { self.limits = limits }

  /// Starts and preempts what the rules say; to be called after each change, and at ``deadline``.
  ///
  /// - Parameters:
  ///   - now: The time.
  ///   - preempt: Stops a download if its bytes can be resumed later; whether it did.
  /// - Returns: The actions, in order.
  mutating func advance(at now: Duration, preempt: (Ticket) -> Bool) -> [Action] {
    findStalls(at: now)
    var actions: [Action] = []
    // Visible downloads first, with the slots that they take from others, which would otherwise start only to stop.
    startAll(downTo: .visible, &actions, at: now)
    while let victim = preemptOne(at: now, preempt) {
      actions.append(.preempt(victim))
      startAll(downTo: .visible, &actions, at: now)
    }
    startAll(downTo: .prefetch, &actions, at: now)
    startStarving(&actions, at: now)
    return actions
  }

  /// When to call ``advance(at:preempt:)`` if nothing changes before; nil for never.
  var deadline: Duration? {
    var deadlines: [Duration] = []
    for (priority, since) in starvingSince where mayStartExtra(priority) {
      deadlines.append(since + Self.starvationLimit(of: priority))
    }
    let hosts = Set(waiting.values.flatMap(\.keys))
    if !hosts.isEmpty {
      for ticket in running {
        guard let entry = entries[ticket], !entry.isStalled, !hosts.subtracting([entry.host]).isEmpty else {
          continue
        }
        deadlines.append(stallTime(entry))
      }
    }
    return deadlines.min()
  }
}

extension SchedulerState {
  private mutating func next() -> Int {
    count += 1
    return count
  }

  private mutating func enqueue(_ ticket: Ticket, _ entry: Entry) {
    var line = waiting[entry.priority]?[entry.host] ?? []
    let index = line.firstIndex { entries[$0].map { $0.turn > entry.turn } ?? false } ?? line.count
    line.insert(ticket, at: index)
    waiting[entry.priority, default: [:]][entry.host] = line
  }

  private mutating func dequeue(_ ticket: Ticket, _ entry: Entry) {
    guard var line = waiting[entry.priority]?[entry.host] else { return }
    line.removeAll { $0 == ticket }
    waiting[entry.priority]?[entry.host] = line.isEmpty ? nil : line
    if waiting[entry.priority]?.isEmpty == true { waiting[entry.priority] = nil }
  }

  private func waits(_ priority: LoadPriority) -> Bool { waiting[priority] != nil }

  // MARK: Stalls

  private func stallTime(_ entry: Entry) -> Duration {
    entry.window.start + (entry.hasBody ? Self.bodyPatience : Self.responsePatience)
  }

  private mutating func findStalls(at now: Duration) {
    for ticket in running {
      guard var entry = entries[ticket], !entry.isStalled, stallTime(entry) <= now else { continue }
      entry.isStalled = !entry.hasBody || entry.window.bytes < Self.leastBytes
      entry.window = (now, 0)
      entries[ticket] = entry
    }
  }

  // MARK: Limits

  private var runningEntries: [Entry] { running.compactMap { entries[$0] } }

  /// The downloads within the limits that count for a host.
  private func counted(for host: String) -> [Entry] {
    runningEntries.filter { !$0.isExtra && (!$0.isStalled || $0.host == host) }
  }

  /// How many stalled downloads are left out of the limit: as many as one host has, where the limit was higher before.
  private var greatestLeftOut: Int {
    let stalled = runningEntries.filter { !$0.isExtra && $0.isStalled }
    return max(limits.total, Dictionary(grouping: stalled, by: \.host).values.map(\.count).max() ?? 0)
  }

  private func runningCount(of host: String) -> Int {
    runningEntries.count { !$0.isExtra && $0.host == host }
  }

  /// Whether a download to a host fits into the limits of number, perhaps after a running one has stopped.
  private func hasSlot(for host: String, without victim: Entry? = nil) -> Bool {
    let all = runningEntries.count { !$0.isExtra }
    let stopped = victim == nil ? 0 : 1
    var leftOut = all - counted(for: host).count
    if let victim, victim.isStalled, victim.host != host { leftOut -= 1 }
    let ofHost = runningCount(of: host) - (victim?.host == host ? 1 : 0)
    return ofHost < limits.perHost && all - stopped - min(leftOut, greatestLeftOut) < limits.total
  }

  /// Whether a download fits beside more urgent ones.
  private func fitsBesideUrgent(_ priority: LoadPriority, of host: String) -> Bool {
    let counted = counted(for: host)
    let urgent = LoadPriority.allCases.last { other in
      counted.contains { $0.priority == other }
        || runningEntries.contains { $0.isExtra && $0.priority == other }
        || waiting[other]?.keys.contains { runningCount(of: $0) < limits.perHost } ?? false
    }
    guard let urgent, priority < urgent else { return true }
    return counted.count { $0.priority < urgent } < limits.besideUrgent
  }

  /// The next download of a priority: of the host that runs least, then of the one that started longest ago.
  private func candidate(_ priority: LoadPriority, where isAllowed: (String) -> Bool) -> Ticket? {
    var best: (rank: (Int, Int, Int), ticket: Ticket)?
    for (host, line) in waiting[priority] ?? [:] {
      guard let ticket = line.first, let entry = entries[ticket], isAllowed(host) else { continue }
      let rank = (runningCount(of: host), lastStart[host] ?? 0, entry.turn)
      if let best, best.rank <= rank { continue }
      best = (rank, ticket)
    }
    return best?.ticket
  }

  private mutating func startAll(downTo lowest: LoadPriority, _ actions: inout [Action], at now: Duration) {
    while let ticket = startable(downTo: lowest) { actions.append(start(ticket, isExtra: false, at: now)) }
  }

  private func startable(downTo lowest: LoadPriority) -> Ticket? {
    for priority in LoadPriority.allCases.reversed() where priority >= lowest && waits(priority) {
      let ticket = candidate(priority) { hasSlot(for: $0) && fitsBesideUrgent(priority, of: $0) }
      if let ticket { return ticket }
    }
    return nil
  }

  private mutating func start(_ ticket: Ticket, isExtra: Bool, at now: Duration) -> Action {
    guard var entry = entries[ticket] else { return .start(ticket) }
    dequeue(ticket, entry)
    entry.phase = .running
    entry.isExtra = isExtra
    entry.started = next()
    (entry.hasBody, entry.isStalled, entry.window, entry.refusedPreemption) = (false, false, (now, 0), false)
    entries[ticket] = entry
    running.insert(ticket)
    // Hosts of long ago count as if they had never started anything.
    if lastStart.count >= 512, lastStart[entry.host] == nil { lastStart = [:] }
    lastStart[entry.host] = entry.started
    return .start(ticket)
  }

  // MARK: Preemption

  /// Stops one less urgent download, if that helps visible ones.
  private mutating func preemptOne(at now: Duration, _ preempt: (Ticket) -> Bool) -> Ticket? {
    let isVisibleRunning = runningEntries.contains { $0.priority == .visible && !$0.isStalled }
    guard waits(.visible) || isVisibleRunning else { return nil }
    let victims = running.compactMap { ticket in entries[ticket].map { (ticket: ticket, entry: $0) } }
      .filter { $0.entry.priority < .visible && !$0.entry.refusedPreemption }
      .sorted { ($0.entry.priority, -$0.entry.started) < ($1.entry.priority, -$1.entry.started) }
    for victim in victims where helps(victim.entry, at: now) {
      if preempt(victim.ticket) {
        running.remove(victim.ticket)
        entries[victim.ticket]?.phase = .stopping
        return victim.ticket
      }
      entries[victim.ticket]?.refusedPreemption = true
    }
    return nil
  }

  /// Whether visible downloads gain by the slot of another.
  private func helps(_ victim: Entry, at now: Duration) -> Bool {
    // A slot beyond the limits goes to a visible download only when that is due for one, and both are taken.
    guard !victim.isExtra else {
      return hasStarved(.visible, at: now) && extraCount(of: .visible) == 0
        && runningEntries.count(where: \.isExtra) > 1
    }
    let counted = runningEntries.filter { !$0.isExtra && !$0.isStalled }
    let isUrgent =
      counted.contains { $0.priority == .visible }
      || waiting[.visible]?.keys.contains { runningCount(of: $0) < limits.perHost } ?? false
    if isUrgent, !victim.isStalled, counted.count(where: { $0.priority < .visible }) > limits.besideUrgent {
      return true
    }
    // Else only where a visible download could then start.
    return waiting[.visible]?.keys.contains { hasSlot(for: $0, without: victim) } ?? false
  }

  // MARK: Starvation

  private func extraCount(of priority: LoadPriority) -> Int {
    runningEntries.count { $0.isExtra && $0.priority == priority }
  }

  private func isStarving(_ priority: LoadPriority) -> Bool {
    guard let hosts = waiting[priority]?.keys else { return false }
    // An extra visible download does not end the starvation of the others.
    let own = priority == .visible ? extraCount(of: .visible) : 0
    return runningEntries.count { $0.priority == priority } == own
      || priority == .visible && hosts.contains { runningCount(of: $0) == 0 }
  }

  /// Whether a priority has waited for so long that a slot beyond the limits is due.
  private func hasStarved(_ priority: LoadPriority, at now: Duration) -> Bool {
    starvingSince[priority].map { now - $0 >= Self.starvationLimit(of: priority) } ?? false
  }

  /// At most two downloads run beyond the limits, one of them visible.
  ///
  /// A third one runs only where both have become less urgent since, and cannot be resumed.
  private func mayStartExtra(_ priority: LoadPriority) -> Bool {
    let extra = runningEntries.count(where: \.isExtra)
    return priority == .visible
      ? extraCount(of: .visible) == 0 && extra < 3 : extra < 2 && extra == extraCount(of: .visible)
  }

  private mutating func startStarving(_ actions: inout [Action], at now: Duration) {
    for priority in LoadPriority.allCases.reversed() {
      guard isStarving(priority) else {
        starvingSince[priority] = nil
        continue
      }
      starvingSince[priority] = starvingSince[priority] ?? now
      guard hasStarved(priority, at: now), mayStartExtra(priority),
        let ticket = candidate(priority, where: { _ in true })
      else { continue }
      actions.append(start(ticket, isExtra: true, at: now))
      if priority != .visible { starvingSince[priority] = nil }
    }
  }
}
