import FeedimgModel

/// Decides which downloads run and which wait (pure).
///
/// Priorities go in order: visible, near, prefetch. Within a priority, hosts take turns, and the downloads of
/// a host start in order of arrival. Five rules limit this order:
///
/// - **Limits.** At most ``TransferLimits/total`` downloads run, ``TransferLimits/perHost`` of them to one
///   host. Below the most urgent priority that runs or could start, at most ``TransferLimits/besideUrgent``
///   run.
/// - **Rate.** A download starts at least ``interval`` after the last one of its host.
/// - **Preemption.** If a visible download finds no slot, it takes the slot of a less urgent download that
///   can resume. The least urgent download goes first, then the one that started last.
/// - **Stalls.** A download that receives almost nothing for a while does not count toward the limits of other
///   hosts. At most ``TransferLimits/total`` downloads are excluded in this way, so at most twice the limit
///   run.
/// - **Starvation.** A priority that could start nothing for ten seconds (visible: one second) gets a slot
///   beyond the limits. So do visible downloads of a host without a running download, so that slow hosts
///   never block them. If such a download stalls too, the next host gets a slot, however many hosts stall.
///
/// Times come from a monotonic clock.
struct SchedulerState: Sendable {
  /// Identifies one download.
  struct Ticket: Hashable, Sendable {
    fileprivate let number: Int
  }

  /// An action for the ``DownloadScheduler`` to perform.
  enum Action: Hashable, Sendable {
    /// The download has a slot: start or resume it.
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
    /// Its position among the downloads of its priority.
    var turn: Int
    /// The count at its start, which orders the starts.
    var started = 0
    /// Whether its slot is beyond the limits.
    var isExtra = false
    /// The start of the current window, and the bytes of the body since then.
    var window = (start: Duration.zero, bytes: 0)
    var hasBody = false
    var isStalled = false
    /// Whether it refused a preemption, because it cannot resume.
    var refusedPreemption = false
  }

  /// The time without a byte of the body after which a download is stalled.
  ///
  /// Most responses begin within one or two round trips.
  static let responseStallTime = Duration.seconds(1)
  /// The time in which a download must receive ``minimumBytes``; detecting a stall takes at most twice as long.
  static let bodyStallTime = Duration.seconds(2)
  static let minimumBytes = 1 << 10
  /// The time that a priority waits without starting a download before it gets a slot beyond the limits.
  static func starvationLimit(of priority: LoadPriority) -> Duration {
    priority == .visible ? .seconds(1) : .seconds(10)
  }

  private(set) var limits: TransferLimits
  private var entries: [Ticket: Entry] = [:]
  /// The waiting downloads by priority and host, in the order of their turns.
  private var waiting: [LoadPriority: [String: [Ticket]]] = [:]
  private var running: Set<Ticket> = []
  /// The least time between two starts of downloads of a host; zero for no limit.
  private let interval: Duration
  /// The count at the last start of each host.
  private var lastStart: [String: Int] = [:]
  /// When each host may start its next download, if there is an interval.
  private var nextStart: [String: Duration] = [:]
  private var starvingSince: [LoadPriority: Duration] = [:]
  /// Counts tickets, turns and starts.
  private var count = 0

  init(limits: TransferLimits, interval: Duration = .zero) {
    (self.limits, self.interval) = (limits, interval)
  }

  var isEmpty: Bool { entries.isEmpty }

  func isRunning(_ ticket: Ticket) -> Bool { running.contains(ticket) }

  /// The priority of a download; nil after it has left.
  func priority(of ticket: Ticket) -> LoadPriority? { entries[ticket]?.priority }

  /// Whether a download is stalled and has received almost nothing since.
  func isStalled(_ ticket: Ticket) -> Bool { entries[ticket]?.isStalled ?? false }

  // MARK: Changes

  mutating func enter(host: String, priority: LoadPriority) -> Ticket {
    let ticket = Ticket(number: next())
    let entry = Entry(host: host, priority: priority, turn: ticket.number)
    entries[ticket] = entry
    enqueue(ticket, entry)
    return ticket
  }

  /// Changes the priority of a download, which then waits behind all others of the new priority.
  mutating func setPriority(_ ticket: Ticket, _ priority: LoadPriority) {
    guard var entry = entries[ticket], entry.priority != priority else { return }
    if entry.phase == .waiting { dequeue(ticket, entry) }
    (entry.priority, entry.turn) = (priority, next())
    entries[ticket] = entry
    if entry.phase == .waiting { enqueue(ticket, entry) }
  }

  /// Records bytes of the body since the last call.
  mutating func received(_ ticket: Ticket, _ bytes: Int, at now: Duration) {
    guard var entry = entries[ticket], entry.phase == .running, bytes > 0 else { return }
    let age = now - entry.window.start
    if !entry.hasBody || entry.isStalled && age >= Self.bodyStallTime {
      (entry.hasBody, entry.window) = (true, (now, bytes))
    } else if !entry.isStalled, age >= Self.bodyStallTime / 2, entry.window.bytes >= Self.minimumBytes {
      entry.window = (now, bytes)
    } else {
      entry.window.bytes += bytes
    }
    // A byte now and then does not end a stall.
    if entry.isStalled, entry.window.bytes >= Self.minimumBytes {
      (entry.isStalled, entry.window.start) = (false, now)
    }
    entries[ticket] = entry
  }

  /// Records that a transfer ended without the complete response.
  ///
  /// The download waits again, or restarts in its slot if it still has one.
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

  /// Removes a download that has ended or that all callers have cancelled.
  mutating func leave(_ ticket: Ticket) {
    guard let entry = entries.removeValue(forKey: ticket) else { return }
    running.remove(ticket)
    if entry.phase == .waiting { dequeue(ticket, entry) }
  }

  mutating func setLimits(_ limits: TransferLimits) { self.limits = limits }

  /// Starts and preempts downloads by the rules; call it after each change and at ``deadline``.
  ///
  /// - Parameters:
  ///   - now: The current time.
  ///   - preempt: Stops a download if its bytes can be resumed, and returns whether it did.
  /// - Returns: The actions, in order.
  mutating func advance(at now: Duration, preempt: (Ticket) -> Bool) -> [Action] {
    nextStart = nextStart.filter { $0.value > now }
    findStalls(at: now)
    var actions: [Action] = []
    // Visible downloads start first, with the slots that they preempt. Otherwise other downloads would start
    // only to stop again.
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
    for (priority, since) in starvingSince
    where waiting[priority]?.keys.contains(where: { mayStartExtra(priority, of: $0) }) ?? false {
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
    deadlines += hosts.compactMap { nextStart[$0] }
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
    entry.window.start + (entry.hasBody ? Self.bodyStallTime : Self.responseStallTime)
  }

  private mutating func findStalls(at now: Duration) {
    for ticket in running {
      guard var entry = entries[ticket], !entry.isStalled, stallTime(entry) <= now else { continue }
      entry.isStalled = !entry.hasBody || entry.window.bytes < Self.minimumBytes
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

  /// The largest number of stalled downloads to exclude from the limit.
  ///
  /// It is at least the number of stalled downloads of any one host, which may exceed a limit that was
  /// lowered.
  private var maximumExcluded: Int {
    let stalled = runningEntries.filter { !$0.isExtra && $0.isStalled }
    return max(limits.total, Dictionary(grouping: stalled, by: \.host).values.map(\.count).max() ?? 0)
  }

  private func runningCount(of host: String) -> Int {
    runningEntries.count { !$0.isExtra && $0.host == host }
  }

  /// Whether the limits allow a download to a host, perhaps after a running one has stopped.
  private func hasSlot(for host: String, without victim: Entry? = nil) -> Bool {
    guard nextStart[host] == nil else { return false }
    let all = runningEntries.count { !$0.isExtra }
    let stopped = victim == nil ? 0 : 1
    var leftOut = all - counted(for: host).count
    if let victim, victim.isStalled, victim.host != host { leftOut -= 1 }
    let ofHost = runningCount(of: host) - (victim?.host == host ? 1 : 0)
    return ofHost < limits.perHost && all - stopped - min(leftOut, maximumExcluded) < limits.total
  }

  /// Whether the limits allow a download beside more urgent ones.
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

  /// The next download of a priority.
  ///
  /// The host with the fewest running downloads goes first, then the host that started one longest ago.
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
    // Hosts that started downloads long ago count as new.
    if lastStart.count >= 512, lastStart[entry.host] == nil { lastStart = [:] }
    lastStart[entry.host] = entry.started
    if interval > .zero { nextStart[entry.host] = now + interval }
    return .start(ticket)
  }

  // MARK: Preemption

  /// Stops a less urgent download if that helps visible ones.
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

  /// Whether visible downloads gain from the slot of another download.
  private func helps(_ victim: Entry, at now: Duration) -> Bool {
    // A visible download takes a slot beyond the limits only if one is due and both such slots are taken.
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
    // Otherwise only if a visible download could then start.
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

  /// Whether a priority has waited so long that a slot beyond the limits is due.
  private func hasStarved(_ priority: LoadPriority, at now: Duration) -> Bool {
    starvingSince[priority].map { now - $0 >= Self.starvationLimit(of: priority) } ?? false
  }

  /// At most two downloads run beyond the limits, one of them visible.
  ///
  /// A third one runs only if both have become less urgent since and cannot resume, or if the visible one has
  /// stalled and the host has no running download.
  private func mayStartExtra(_ priority: LoadPriority, of host: String) -> Bool {
    guard nextStart[host] == nil else { return false }
    let running = runningEntries
    let extra = running.filter(\.isExtra)
    let visible = extra.filter { $0.priority == .visible }
    guard priority == .visible else { return extra.count < 2 && extra.count == visible.count }
    guard !visible.isEmpty else { return extra.count < 3 }
    return visible.allSatisfy(\.isStalled) && !running.contains { $0.host == host }
  }

  private mutating func startStarving(_ actions: inout [Action], at now: Duration) {
    for priority in LoadPriority.allCases.reversed() {
      guard isStarving(priority) else {
        starvingSince[priority] = nil
        continue
      }
      starvingSince[priority] = starvingSince[priority] ?? now
      guard hasStarved(priority, at: now),
        let ticket = candidate(priority, where: { mayStartExtra(priority, of: $0) })
      else { continue }
      actions.append(start(ticket, isExtra: true, at: now))
      if priority != .visible { starvingSince[priority] = nil }
    }
  }
}
