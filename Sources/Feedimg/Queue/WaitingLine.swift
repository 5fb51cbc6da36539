/// The loads of one class that wait, those of each host in the order of their turns.
struct WaitingLine<Ticket: Hashable & Sendable>: Sendable {
  private struct Place: Sendable {
    let turn: Int
    let ticket: Ticket
  }

  private var places: [String: [Place]] = [:]

  var isEmpty: Bool { places.isEmpty }

  /// Those of whom something waits.
  var hosts: some Collection<String> { places.keys }

  mutating func insert(_ ticket: Ticket, host: String, turn: Int) {
    var line = places[host, default: []]
    line.insert(Place(turn: turn, ticket: ticket), at: Self.index(of: turn, in: line))
    places[host] = line
  }

  mutating func remove(host: String, turn: Int) {
    guard var line = places.removeValue(forKey: host) else { return }
    let index = Self.index(of: turn, in: line)
    if index < line.count, line[index].turn == turn { line.remove(at: index) }
    if !line.isEmpty { places[host] = line }
  }

  /// The first of the host whose turn it is.
  ///
  /// Hosts with a lower rank go first, those with none not at all; of equals the one that has waited longest.
  func first<Rank: Comparable>(by rank: (String) -> Rank?) -> Ticket? {
    var best: (rank: Rank, place: Place)?
    for (host, line) in places {
      guard let first = line.first, let rank = rank(host) else { continue }
      if let best, (best.rank, best.place.turn) <= (rank, first.turn) { continue }
      best = (rank, first)
    }
    return best?.place.ticket
  }

  /// Where a turn is, or would be.
  private static func index(of turn: Int, in line: [Place]) -> Int {
    var (low, high) = (0, line.count)
    while low < high {
      let middle = (low + high) / 2
      if line[middle].turn < turn { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
