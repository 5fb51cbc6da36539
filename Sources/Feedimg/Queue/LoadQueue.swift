import FeedimgModel

/// Who may transfer now: the decisions of sharing few places among many loads.
///
/// What is visible goes before what is near, and that before what is prefetched; within a class who came first goes
/// first, but the hosts take turns, so that one with a long line does not hold up the others. Something visible that
/// finds no place takes that of something less urgent, which waits again in front of its class. A class that could
/// not begin anything for a while (``ClassHunger``) gets one place beyond the limits, so that none waits for ever.
///
/// A host that is slow to answer, or to send (``TransferLimits/slowHosts``), holds up nobody else: a transfer without an
/// answer for a second, or of which nothing more has come for two, counts against what its own host may have, and for
/// other hosts no longer: neither against the total, which is doubled so at most, nor as something urgent that others
/// would have to give way to, or as something beside that.
///
/// Pure: each change is told the time, on any clock that does not jump, and returns what the caller must now do.
struct LoadQueue: Sendable {
  /// One load that wants a place.
  struct Ticket: Hashable, Sendable {
    fileprivate let number: Int
  }

  enum Step: Hashable, Sendable {
    /// It has a place: begin, or go on.
    case start(Ticket)
    /// It has lost its place: end the transfer, then tell by ``stopped(_:at:)``, or by ``leave(_:at:)``.
    case stop(Ticket)
  }

  private(set) var limits: TransferLimits
  private var entries: [Ticket: Entry] = [:]
  private var lines: [LoadPriority: WaitingLine<Ticket>] = [:]
  private var occupancy = Occupancy()
  private var silent = SilentTransfers()
  private var hunger = ClassHunger()
  /// Counts tickets, turns and beginnings.
  private var count = 0

  init(limits: TransferLimits) {
    self.limits = limits
    occupancy.slowHosts = limits.slowHosts
  }

  /// Whether nobody wants anything.
  var isEmpty: Bool { entries.isEmpty }

  /// When to call ``tick(at:)``, if nothing else happens before; nil for never.
  var deadline: Duration? {
    // Where no more may be granted, what is hungry waits until one of those leaves, however long.
    let hunger = hunger.deadline(of: mayGrant)
    let lateness = silent.deadline { host in
      lines.values.contains { $0.hosts.contains { $0 != host } }
    }
    guard let hunger, let lateness else { return hunger ?? lateness }
    return min(hunger, lateness)
  }

  /// Whether it has a place.
  func isRunning(_ ticket: Ticket) -> Bool {
    if case .running? = entries[ticket]?.state { true } else { false }
  }

  /// Nil where it is not known.
  func priority(of ticket: Ticket) -> LoadPriority? { entries[ticket]?.priority }

  mutating func enter(host: String, priority: LoadPriority, at now: Duration) -> (Ticket, [Step]) {
    let ticket = Ticket(number: next())
    entries[ticket] = Entry(host: host, priority: priority, turn: ticket.number)
    lines[priority, default: WaitingLine()].insert(ticket, host: host, turn: ticket.number)
    return (ticket, advance(at: now))
  }

  /// Somebody else wants it now, or somebody no longer does.
  mutating func setPriority(_ ticket: Ticket, _ priority: LoadPriority, at now: Duration) -> [Step] {
    guard let old = entries[ticket], old.priority != priority else { return [] }
    withdraw(ticket, old)
    var entry = old
    // It comes to its new class last.
    (entry.priority, entry.turn) = (priority, next())
    admit(ticket, entry)
    return advance(at: now)
  }

  /// Whether it would waste little to stop a running transfer: nothing has arrived, or what has can be gone on with.
  ///
  /// - Returns: Whether it still has its place; if not, its stop has been decided, and nothing that arrives counts.
  @discardableResult
  mutating func setStoppable(_ ticket: Ticket, _ isStoppable: Bool) -> Bool {
    entries[ticket]?.isStoppable = isStoppable
    return isRunning(ticket)
  }

  /// Takes note that something of a body has come; whether that is to be told by ``answered(_:at:)``, as it was late.
  mutating func hear(_ ticket: Ticket, at now: Duration) -> Bool { silent.hear(ticket, at: now) }

  /// Something of the body has come.
  mutating func answered(_ ticket: Ticket, at now: Duration) -> [Step] {
    guard silent.hear(ticket, at: now), let entry = entries[ticket] else { return [] }
    silent.end(ticket)
    silent.begin(ticket, entry.host, at: now, isAnswered: true)
    // What was late takes its part of the link only now.
    occupancy.set(ticket, isLate: false)
    return advance(at: now)
  }

  /// The transfer has ended because it was to be stopped, and waits again; or it begins anew in the place that it has.
  mutating func stopped(_ ticket: Ticket, at now: Duration) -> [Step] {
    guard var entry = entries[ticket] else { return [] }
    if case .running(_, isGranted: false) = entry.state {
      silent.end(ticket)
      occupancy.set(ticket, isLate: false)
      silent.begin(ticket, entry.host, at: now)
      return advance(at: now)
    }
    guard case .stopping = entry.state else { return [] }
    entry.state = .waiting
    entry.isStoppable = true
    admit(ticket, entry)
    return advance(at: now)
  }

  /// The load has ended, or nobody wants it any more.
  mutating func leave(_ ticket: Ticket, at now: Duration) -> [Step] {
    guard let entry = entries.removeValue(forKey: ticket) else { return [] }
    withdraw(ticket, entry)
    silent.end(ticket)
    return advance(at: now)
  }

  mutating func setLimits(_ limits: TransferLimits, at now: Duration) -> [Step] {
    self.limits = limits
    occupancy.slowHosts = limits.slowHosts
    return advance(at: now)
  }

  /// Time has passed.
  mutating func tick(at now: Duration) -> [Step] { advance(at: now) }
}

extension LoadQueue {
  private mutating func next() -> Int {
    count += 1
    return count
  }

  /// Counts an entry where it belongs by its state.
  private mutating func admit(_ ticket: Ticket, _ entry: Entry) {
    entries[ticket] = entry
    switch entry.state {
    case .waiting:
      lines[entry.priority, default: WaitingLine()].insert(ticket, host: entry.host, turn: entry.turn)
    case .running(let begun, let isGranted):
      let (host, priority) = (entry.host, entry.priority)
      occupancy.add(ticket, .init(host: host, priority: priority, begun: begun, isGranted: isGranted))
      occupancy.set(ticket, isLate: silent.late.contains(ticket))
    case .stopping: break
    }
  }

  private mutating func withdraw(_ ticket: Ticket, _ entry: Entry) {
    switch entry.state {
    case .waiting: lines[entry.priority]?.remove(host: entry.host, turn: entry.turn)
    case .running: occupancy.remove(ticket)
    case .stopping: break
    }
  }

  private func waits(_ priority: LoadPriority) -> Bool { !(lines[priority]?.isEmpty ?? true) }

  /// Whether to mind a class of which so many run: as something comes, or could begin if there were a place.
  private func isUrgent(_ priority: LoadPriority, running: Int) -> Bool {
    if running > 0 || priority == .visible && occupancy.grantedCount(of: .visible) > 0 { return true }
    // What waits for its own host alone, as that is late or slow, would gain nothing from others.
    return lines[priority]?.hosts.contains {
      occupancy.count(host: $0) < limits.perHost || !occupancy.isAnythingAside(of: $0)
    } ?? false
  }

  private mutating func advance(at now: Duration) -> [Step] {
    var steps: [Step] = []
    for ticket in silent.pass(to: now) { occupancy.set(ticket, isLate: true) }
    // What is visible first, with the places that it takes from others: else these might begin only to be stopped.
    begin(downTo: .visible, &steps, at: now)
    while let step = jump() {
      steps.append(step)
      begin(downTo: .visible, &steps, at: now)
    }
    begin(downTo: .prefetch, &steps, at: now)
    return steps + feedHungry(at: now)
  }

  /// Begins what fits into the limits, of a class and those above.
  private mutating func begin(downTo lowest: LoadPriority, _ steps: inout [Step], at now: Duration) {
    while let ticket = startable(downTo: lowest) { steps.append(start(ticket, isGranted: false, at: now)) }
  }

  /// Whether all places are taken for a host, or would be without one of them; for every host, if none is named.
  private func isFull(for host: String? = nil, without ticket: Ticket? = nil) -> Bool {
    let seat = ticket.flatMap { occupancy.taken[$0] }
    let isOneAside = seat.map { occupancy.isAside($0, for: host) } ?? false
    let aside = occupancy.asideCount(for: host) - (isOneAside ? 1 : 0)
    // What one host began under wider limits holds up nobody either.
    let greatest = max(limits.total, occupancy.greatestAsideCount)
    return occupancy.count - (seat == nil ? 0 : 1) - min(aside, greatest) >= limits.total
  }

  /// The next that fits into the limits.
  private func startable(downTo lowest: LoadPriority) -> Ticket? {
    guard !isFull() else { return nil }
    for priority in LoadPriority.allCases.reversed() where priority >= lowest && waits(priority) {
      if let ticket = candidate(priority, where: { fits(priority, of: $0) }) { return ticket }
    }
    return nil
  }

  private func fits(_ priority: LoadPriority, of host: String) -> Bool {
    guard occupancy.count(host: host) < limits.perHost, !isFull(for: host) else { return false }
    let top =
      LoadPriority.allCases.last { isUrgent($0, running: occupancy.count(of: $0, for: host)) } ?? .prefetch
    return priority >= top || occupancy.count(below: top, for: host) < limits.besideUrgent
  }

  /// The next of a class, of the host that has least and had its turn longest ago.
  private func candidate(_ priority: LoadPriority, where mayBegin: (String) -> Bool) -> Ticket? {
    lines[priority]?.first { mayBegin($0) ? occupancy.rank(of: $0) : nil }
  }

  private mutating func start(_ ticket: Ticket, isGranted: Bool, at now: Duration) -> Step {
    guard var entry = entries[ticket] else { return .start(ticket) }
    withdraw(ticket, entry)
    entry.state = .running(begun: next(), isGranted: isGranted)
    admit(ticket, entry)
    if !isGranted { silent.begin(ticket, entry.host, at: now) }
    return .start(ticket)
  }

  /// Takes a place from something less urgent for what is visible, the last begun first.
  private mutating func jump() -> Step? {
    guard waits(.visible) || occupancy.countWithGranted(of: .visible) > 0 else { return nil }
    let victims = occupancy.taken.filter { ticket, seat in
      seat.priority < .visible && !seat.isGranted && entries[ticket]?.isStoppable == true
        && (crowds(seat) || waits(.visible) && helps(ticket, of: seat.host))
    }
    guard
      let victim = victims.min(by: {
        ($0.value.priority, -$0.value.begun) < ($1.value.priority, -$1.value.begun)
      })
    else { return nil }
    return stop(victim.key)
  }

  private mutating func stop(_ ticket: Ticket) -> Step {
    occupancy.remove(ticket)
    silent.end(ticket)
    entries[ticket]?.state = .stopping
    return .stop(ticket)
  }

  private var grantedVictim: Ticket? { occupancy.grantedVictim { entries[$0]?.isStoppable == true } }

  private func mayGrant(_ priority: LoadPriority) -> Bool {
    occupancy.mayGrant(priority, inPlaceOfOther: priority == .visible && grantedVictim != nil)
  }

  /// Whether it is one too many beside what is visible; slow hosts have such of their own.
  private func crowds(_ seat: Occupancy.Seat) -> Bool {
    let isSlow = limits.slowHosts.contains(seat.host)
    return !seat.isLate && occupancy.count(below: .visible, ofSlow: isSlow) > limits.besideUrgent
      && isUrgent(.visible, running: occupancy.count(of: .visible, withSlow: isSlow))
  }

  /// Whether something visible could begin if this gave up its place.
  private func helps(_ ticket: Ticket, of host: String) -> Bool {
    guard !isFull(without: ticket) else { return false }
    return lines[.visible]?.hosts.contains {
      occupancy.count(host: $0) - ($0 == host ? 1 : 0) < limits.perHost
        && !isFull(for: $0, without: ticket)
    } ?? false
  }

  /// Grants a place to each class that could not begin anything for too long.
  private mutating func feedHungry(at now: Duration) -> [Step] {
    var steps: [Step] = []
    for priority in LoadPriority.allCases.reversed() {
      // What is visible goes on in the place that it was granted, one after the other, until there is another.
      let own = priority == .visible ? occupancy.grantedCount(of: .visible) : 0
      let isHungry = waits(priority) && occupancy.countWithGranted(of: priority) == own
      guard hunger.note(priority, isHungry: isHungry, at: now), mayGrant(priority),
        let ticket = candidate(priority, where: { _ in true })
      else { continue }
      // What has gone out of sight, or never was in it, gives its place to what is.
      if priority == .visible, occupancy.grantedCount > 1, let victim = grantedVictim {
        steps.append(stop(victim))
      }
      steps.append(start(ticket, isGranted: true, at: now))
      if priority != .visible { hunger.forget(priority) }
    }
    return steps
  }
}
