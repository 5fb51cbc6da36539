import FeedimgModel

/// The places that are taken, counted by host and by class; those granted beyond the limits apart.
///
/// Some are aside: they take nothing of the link from others, and do not count for them. Those that are late count for
/// their own host alone, and those of slow hosts for all of these.
struct Occupancy: Sendable {
  struct Seat: Sendable {
    let host: String
    let priority: LoadPriority
    /// Grows with each that begins.
    let begun: Int
    let isGranted: Bool
    var isLate = false
  }

  private struct Counts: Sendable {
    var byPriority: [LoadPriority: Int] = [:]
    var all = 0

    subscript(_ priority: LoadPriority) -> Int { byPriority[priority] ?? 0 }

    mutating func change(_ priority: LoadPriority, by step: Int) {
      byPriority[priority] = self[priority] + step
      all += step
    }
  }

  private(set) var taken: [LoadQueue.Ticket: Seat] = [:]
  /// See ``TransferLimits/slowHosts``.
  var slowHosts: Set<String> = [] {
    didSet {
      slow = Counts()
      for seat in taken.values where isOfSlow(seat) { slow.change(seat.priority, by: 1) }
    }
  }
  /// Those within the limits.
  var count: Int { counted.all }
  /// Those beyond them.
  var grantedCount: Int { granted.all }
  private var counted = Counts()
  private var granted = Counts()
  private var byHost: [String: Int] = [:]
  private var late = Counts()
  private var lateByHost: [String: Counts] = [:]
  /// Those of slow hosts that are not late.
  private var slow = Counts()
  private var begunByHost: [String: Int] = [:]

  /// Hosts whose last beginning is remembered.
  private static let greatestMemory = 512

  mutating func add(_ ticket: LoadQueue.Ticket, _ seat: Seat) {
    taken[ticket] = seat
    change(seat, by: 1)
    let host = seat.host
    if begunByHost.count >= Self.greatestMemory, begunByHost[host] == nil {
      begunByHost = begunByHost.filter { byHost[$0.key] != nil }
    }
    begunByHost[host] = max(seat.begun, begunByHost[host] ?? 0)
  }

  mutating func remove(_ ticket: LoadQueue.Ticket) {
    guard let seat = taken.removeValue(forKey: ticket) else { return }
    change(seat, by: -1)
  }

  /// Harmless where it has no place.
  mutating func set(_ ticket: LoadQueue.Ticket, isLate: Bool) {
    guard var seat = taken[ticket], seat.isLate != isLate else { return }
    change(seat, by: -1)
    seat.isLate = isLate
    taken[ticket] = seat
    change(seat, by: 1)
  }

  /// Those to a host, within the limits.
  func count(host: String) -> Int { byHost[host] ?? 0 }

  /// Those of a class beyond the limits.
  func grantedCount(of priority: LoadPriority) -> Int { granted[priority] }

  /// Those of a class, with those beyond the limits.
  func countWithGranted(of priority: LoadPriority) -> Int { counted[priority] + granted[priority] }

  /// Those of a class within the limits that count for a host.
  func count(of priority: LoadPriority, for host: String) -> Int {
    let late = late[priority] - (lateByHost[host]?[priority] ?? 0)
    return counted[priority] - late - (slowHosts.contains(host) ? 0 : slow[priority])
  }

  /// The same of all classes below one.
  func count(below priority: LoadPriority, for host: String) -> Int {
    LoadPriority.allCases.reduce(0) { $0 + ($1 < priority ? count(of: $1, for: host) : 0) }
  }

  /// Those of a class within the limits, without the late ones; without those of slow hosts as well, or with them.
  func count(of priority: LoadPriority, withSlow: Bool) -> Int {
    counted[priority] - late[priority] - (withSlow ? 0 : slow[priority])
  }

  /// Those of all classes below one, without the late ones: those of slow hosts, or of all others.
  func count(below priority: LoadPriority, ofSlow: Bool) -> Int {
    LoadPriority.allCases.reduce(0) {
      $0 + ($1 < priority ? ofSlow ? slow[$1] : count(of: $1, withSlow: false) : 0)
    }
  }

  /// Those within the limits that do not count for a host; for one that has none and is not slow, if none is named.
  func asideCount(for host: String?) -> Int {
    guard let host else { return late.all + slow.all }
    return late.all - (lateByHost[host]?.all ?? 0) + (slowHosts.contains(host) ? 0 : slow.all)
  }

  /// Whether it is one of these.
  func isAside(_ seat: Seat, for host: String?) -> Bool {
    guard let host else { return seat.isLate || isOfSlow(seat) }
    return seat.isLate ? seat.host != host : isOfSlow(seat) && !slowHosts.contains(host)
  }

  /// What the host has of which something is aside, and most in all.
  var greatestAsideCount: Int {
    max(lateByHost.keys.map(count(host:)).max() ?? 0, slowHosts.map(count(host:)).max() ?? 0)
  }

  /// Whether something of a host does not count for others.
  func isAnythingAside(of host: String) -> Bool { lateByHost[host] != nil || slowHosts.contains(host) }

  func rank(of host: String) -> HostRank {
    HostRank(running: count(host: host), lastBegun: begunByHost[host] ?? 0)
  }

  private func isOfSlow(_ seat: Seat) -> Bool {
    !seat.isGranted && !seat.isLate && slowHosts.contains(seat.host)
  }

  private mutating func change(_ seat: Seat, by step: Int) {
    guard !seat.isGranted else { return granted.change(seat.priority, by: step) }
    counted.change(seat.priority, by: step)
    let ofHost = count(host: seat.host) + step
    byHost[seat.host] = ofHost == 0 ? nil : ofHost
    if isOfSlow(seat) { slow.change(seat.priority, by: step) }
    guard seat.isLate else { return }
    late.change(seat.priority, by: step)
    var counts = lateByHost[seat.host] ?? Counts()
    counts.change(seat.priority, by: step)
    lateByHost[seat.host] = counts.all == 0 ? nil : counts
  }
}

extension Occupancy {
  /// Whether a class may have one beyond the limits: one, of two in all, is for what is visible now.
  ///
  /// Where both have gone out of sight, what is visible has that of one of them, or a third where neither can be stopped.
  func mayGrant(_ priority: LoadPriority, inPlaceOfOther: Bool) -> Bool {
    guard countWithGranted(of: priority) == 0 else { return false }
    if priority == .visible { return grantedCount < 3 || inPlaceOfOther }
    return grantedCount < 2 && grantedCount == grantedCount(of: .visible)
  }

  /// The least urgent of those beyond the limits that something visible may take the place of, the last begun first.
  func grantedVictim(where isStoppable: (LoadQueue.Ticket) -> Bool) -> LoadQueue.Ticket? {
    taken.filter { $0.value.isGranted && $0.value.priority < .visible && isStoppable($0.key) }
      .min { ($0.value.priority, -$0.value.begun) < ($1.value.priority, -$1.value.begun) }?.key
  }
}

/// Which host goes first: the one that transfers least, then the one that began something longest ago.
struct HostRank: Comparable {
  let running: Int
  /// 0 for never.
  let lastBegun: Int

  static func < (first: HostRank, second: HostRank) -> Bool {
    (first.running, first.lastBegun) < (second.running, second.lastBegun)
  }
}
