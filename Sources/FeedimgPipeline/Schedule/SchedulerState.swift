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
  struct Ticket: Hashable, Sendable {
    fileprivate let number: Int
  }

  /// An action for the ``DownloadScheduler`` to perform.
  enum Action: Hashable, Sendable {
    /// The download has a slot: start or resume it.
    case start(Ticket)
    /// The download has lost its slot: call ``stopped(_:at:)`` or ``leave(_:)`` once its transfer has ended.
    case preempt(Ticket)
  }

  struct Entry: Sendable {
    let ticket: Ticket
    let host: String
    var priority: LoadPriority
    /// Whether it has lost its slot and its transfer is ending.
    var isStopping = false
    /// Its position among the downloads of its priority.
    var turn: Int
    /// The count at its start, which orders the starts.
    var started = 0
    /// Whether its slot is beyond the limits.
    var isExtra = false
    /// Whether it refused a preemption, because it cannot resume.
    var refusedPreemption = false
    var stall = StallDetector()

    var isStalled: Bool { stall.isStalled }

    mutating func restart(at now: Duration) { (stall, refusedPreemption) = (StallDetector(at: now), false) }
  }

  /// The time that a priority waits without starting a download before it gets a slot beyond the limits.
  static func starvationLimit(of priority: LoadPriority) -> Duration {
    priority == .visible ? .seconds(1) : .seconds(10)
  }

  private(set) var limits: TransferLimits
  /// The downloads that have a slot, in the order of their starts.
  private(set) var running: [Entry] = []
  /// The other downloads: they wait or stop.
  private(set) var others: [Ticket: Entry] = [:]
  /// The waiting downloads by priority and host, in the order of their turns.
  private var waiting: [LoadPriority: [String: [Ticket]]] = [:]
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

  func isRunning(_ ticket: Ticket) -> Bool { runningIndex(of: ticket) != nil }

  /// The priority of a download; nil after it has left.
  func priority(of ticket: Ticket) -> LoadPriority? {
    runningIndex(of: ticket).map { running[$0].priority } ?? others[ticket]?.priority
  }

  /// Whether a download is stalled and has received almost nothing since.
  func isStalled(_ ticket: Ticket) -> Bool {
    runningIndex(of: ticket).map { running[$0].isStalled } ?? false
  }

  // MARK: Changes

  mutating func enter(host: String, priority: LoadPriority) -> Ticket {
    let ticket = Ticket(number: next())
    enqueue(Entry(ticket: ticket, host: host, priority: priority, turn: ticket.number))
    return ticket
  }

  /// Changes the priority of a download, which then waits behind all others of the new priority.
  mutating func setPriority(_ ticket: Ticket, _ priority: LoadPriority) {
    guard self.priority(of: ticket) != priority else { return }
    let turn = next()
    if let index = runningIndex(of: ticket) {
      (running[index].priority, running[index].turn) = (priority, turn)
    } else if var entry = others[ticket] {
      if !entry.isStopping { dequeue(entry) }
      (entry.priority, entry.turn) = (priority, turn)
      if entry.isStopping { others[ticket] = entry } else { enqueue(entry) }
    }
  }

  /// Records bytes of the body since the last call.
  mutating func received(_ ticket: Ticket, _ bytes: Int, at now: Duration) {
    guard bytes > 0, let index = runningIndex(of: ticket) else { return }
    running[index].stall.receive(bytes, at: now)
  }

  /// Records that a transfer ended without the complete response.
  ///
  /// The download waits again, or restarts in its slot if it still has one.
  mutating func stopped(_ ticket: Ticket, at now: Duration) {
    if let index = runningIndex(of: ticket) { return running[index].restart(at: now) }
    guard var entry = others[ticket], entry.isStopping else { return }
    (entry.isStopping, entry.isExtra) = (false, false)
    enqueue(entry)
  }

  /// Removes a download that has ended or that all callers have cancelled.
  mutating func leave(_ ticket: Ticket) {
    if let index = runningIndex(of: ticket) {
      running.remove(at: index)
    } else if let entry = others.removeValue(forKey: ticket), !entry.isStopping {
      dequeue(entry)
    }
  }

  mutating func setLimits(_ limits: TransferLimits) { self.limits = limits }

  /// Lets the next download of each host start at once.
  ///
  /// - Returns: Whether a host had to wait.
  mutating func endIntervals() -> Bool {
    defer { nextStart = [:] }
    return !nextStart.isEmpty
  }

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
      for entry in running where !entry.isStalled && hosts.contains(where: { $0 != entry.host }) {
        deadlines.append(entry.stall.deadline)
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

  /// The place of a download in ``running``; nil if it has no slot.
  private func runningIndex(of ticket: Ticket) -> Int? { running.firstIndex { $0.ticket == ticket } }

  private mutating func enqueue(_ entry: Entry) {
    others[entry.ticket] = entry
    var line = waiting[entry.priority]?[entry.host] ?? []
    let index = line.firstIndex { others[$0].map { $0.turn > entry.turn } ?? false } ?? line.count
    line.insert(entry.ticket, at: index)
    waiting[entry.priority, default: [:]][entry.host] = line
  }

  private mutating func dequeue(_ entry: Entry) {
    guard var line = waiting[entry.priority]?[entry.host] else { return }
    line.removeAll { $0 == entry.ticket }
    waiting[entry.priority]?[entry.host] = line.isEmpty ? nil : line
    if waiting[entry.priority]?.isEmpty == true { waiting[entry.priority] = nil }
  }

  private func waits(_ priority: LoadPriority) -> Bool { waiting[priority] != nil }

  // MARK: Stalls

  private mutating func findStalls(at now: Duration) {
    for index in running.indices { running[index].stall.check(at: now) }
  }

  // MARK: Limits

  /// The downloads within the limits that count for a host.
  private func counted(for host: String) -> [Entry] {
    running.filter { !$0.isExtra && (!$0.isStalled || $0.host == host) }
  }

  /// The largest number of stalled downloads to exclude from the limit.
  ///
  /// It is at least the number of stalled downloads of any one host, which may exceed a limit that was
  /// lowered.
  private var maximumExcluded: Int {
    let stalled = running.filter { !$0.isExtra && $0.isStalled }
    return max(limits.total, Dictionary(grouping: stalled, by: \.host).values.map(\.count).max() ?? 0)
  }

  private func runningCount(of host: String) -> Int {
    running.count { !$0.isExtra && $0.host == host }
  }

  /// Whether the limits allow a download to a host, perhaps after a running one has stopped.
  private func hasSlot(for host: String, without victim: Entry? = nil) -> Bool {
    guard nextStart[host] == nil else { return false }
    let all = running.count { !$0.isExtra }
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
        || running.contains { $0.isExtra && $0.priority == other }
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
      guard let ticket = line.first, let entry = others[ticket], isAllowed(host) else { continue }
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
    guard var entry = others.removeValue(forKey: ticket) else { return .start(ticket) }
    dequeue(entry)
    entry.isExtra = isExtra
    entry.started = next()
    entry.restart(at: now)
    running.append(entry)
    // Hosts that started downloads long ago count as new.
    if lastStart.count >= 512, lastStart[entry.host] == nil { lastStart = [:] }
    lastStart[entry.host] = entry.started
    if interval > .zero { nextStart[entry.host] = now + interval }
    return .start(ticket)
  }

  // MARK: Preemption

  /// Stops a less urgent download if that helps visible ones.
  private mutating func preemptOne(at now: Duration, _ preempt: (Ticket) -> Bool) -> Ticket? {
    let isVisibleRunning = running.contains { $0.priority == .visible && !$0.isStalled }
    guard waits(.visible) || isVisibleRunning else { return nil }
    let victims = running.filter { $0.priority < .visible && !$0.refusedPreemption }
      .sorted { ($0.priority, -$0.started) < ($1.priority, -$1.started) }
    for var victim in victims where helps(victim, at: now) {
      guard let index = runningIndex(of: victim.ticket) else { continue }
      if preempt(victim.ticket) {
        running.remove(at: index)
        victim.isStopping = true
        others[victim.ticket] = victim
        return victim.ticket
      }
      running[index].refusedPreemption = true
    }
    return nil
  }

  /// Whether visible downloads gain from the slot of another download.
  private func helps(_ victim: Entry, at now: Duration) -> Bool {
    // A visible download takes a slot beyond the limits only if one is due and both such slots are taken.
    guard !victim.isExtra else {
      return hasStarved(.visible, at: now) && extraCount(of: .visible) == 0
        && running.count(where: \.isExtra) > 1
    }
    let counted = running.filter { !$0.isExtra && !$0.isStalled }
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
    running.count { $0.isExtra && $0.priority == priority }
  }

  private func isStarving(_ priority: LoadPriority) -> Bool {
    guard let hosts = waiting[priority]?.keys else { return false }
    // An extra visible download does not end the starvation of the others.
    let own = priority == .visible ? extraCount(of: .visible) : 0
    return running.count { $0.priority == priority } == own
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

/// Finds out whether a download receives almost nothing (pure).
///
/// Finding a stall takes at most twice as long as the time for a response or a body.
struct StallDetector: Sendable {
  /// The time in which the body must begin; most responses begin within one or two round trips.
  private static let responseTime = Duration.seconds(1)
  /// The time in which a body must receive ``minimumBytes``.
  private static let bodyTime = Duration.seconds(2)
  private static let minimumBytes = 1 << 10

  private(set) var isStalled = false
  private var hasBody = false
  /// The start of the current period, and the bytes of the body since then.
  private var period: (start: Duration, bytes: Int)

  init(at now: Duration = .zero) { period = (now, 0) }

  /// When the download is stalled if it receives almost nothing until then.
  var deadline: Duration { period.start + (hasBody ? Self.bodyTime : Self.responseTime) }

  mutating func receive(_ bytes: Int, at now: Duration) {
    let age = now - period.start
    if !hasBody || isStalled && age >= Self.bodyTime {
      (hasBody, period) = (true, (now, bytes))
    } else if !isStalled, age >= Self.bodyTime / 2, period.bytes >= Self.minimumBytes {
      period = (now, bytes)
    } else {
      period.bytes += bytes
    }
    // A byte now and then does not end a stall.
    if isStalled, period.bytes >= Self.minimumBytes { (isStalled, period.start) = (false, now) }
  }

  mutating func check(at now: Duration) {
    guard !isStalled, deadline <= now else { return }
    isStalled = !hasBody || period.bytes < Self.minimumBytes
    period = (now, 0)
  }
}
