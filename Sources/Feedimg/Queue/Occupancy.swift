import FeedimgModel

/// The places that are taken, counted by host and by class; those granted beyond the limits apart.
struct Occupancy: Sendable {
  struct Seat: Sendable {
    let host: String
    let priority: LoadPriority
    /// Grows with each that begins.
    let begun: Int
    let isGranted: Bool
  }

  private(set) var taken: [LoadQueue.Ticket: Seat] = [:]
  /// Those within the limits.
  private(set) var count = 0
  /// Those beyond them.
  var grantedCount: Int { taken.count - count }
  private var byHost: [String: Int] = [:]
  private var byPriority: [LoadPriority: (counted: Int, granted: Int)] = [:]
  private var begunByHost: [String: Int] = [:]

  /// Hosts whose last beginning is remembered.
  private static let greatestMemory = 512

  mutating func add(
    _ ticket: LoadQueue.Ticket,
    _ host: String,
    _ priority: LoadPriority,
    begun: Int,
    isGranted: Bool
  ) {
    taken[ticket] = Seat(host: host, priority: priority, begun: begun, isGranted: isGranted)
    change(host, priority, isGranted, by: 1)
    if begunByHost.count >= Self.greatestMemory, begunByHost[host] == nil {
      begunByHost = begunByHost.filter { byHost[$0.key] != nil }
    }
    begunByHost[host] = max(begun, begunByHost[host] ?? 0)
  }

  mutating func remove(_ ticket: LoadQueue.Ticket) {
    guard let seat = taken.removeValue(forKey: ticket) else { return }
    change(seat.host, seat.priority, seat.isGranted, by: -1)
  }

  /// Those to a host, within the limits.
  func count(host: String) -> Int { byHost[host] ?? 0 }

  /// Those of a class, within the limits unless said otherwise.
  func count(of priority: LoadPriority, withGranted: Bool = false) -> Int {
    guard let counts = byPriority[priority] else { return 0 }
    return counts.counted + (withGranted ? counts.granted : 0)
  }

  /// Those of the classes below one, within the limits.
  func count(below priority: LoadPriority) -> Int {
    LoadPriority.allCases.reduce(0) { $0 + ($1 < priority ? count(of: $1) : 0) }
  }

  /// When the host began something last; 0 for never.
  func lastBegun(host: String) -> Int { begunByHost[host] ?? 0 }

  private mutating func change(_ host: String, _ priority: LoadPriority, _ isGranted: Bool, by step: Int) {
    var counts = byPriority[priority] ?? (0, 0)
    if isGranted { counts.granted += step } else { counts.counted += step }
    byPriority[priority] = counts
    guard !isGranted else { return }
    count += step
    let ofHost = count(host: host) + step
    byHost[host] = ofHost == 0 ? nil : ofHost
  }
}
