/// Chooses the fewest of some sets that together hold all of some elements.
struct Selection {
  /// For each element that matters, the sets that hold it; no element's sets contain another's.
  private var demands: [[Int]]

  /// - Parameters:
  ///   - sets: Each ascending; together they hold all elements.
  ///   - elements: Ascending.
  init(_ sets: [[Int]], covering elements: [Int]) {
    let places = Dictionary(uniqueKeysWithValues: elements.enumerated().map { ($1, $0) })
    var holders = [[Int]](repeating: [], count: elements.count)
    for (index, set) in sets.enumerated() {
      for element in set { if let place = places[element] { holders[place].append(index) } }
    }
    // Whoever meets the demand of fewer sets also meets that of more.
    demands = []
    for holder in Set(holders).sorted(by: { ($0.count, $0.first ?? 0) < ($1.count, $1.first ?? 0) }) {
      let members = Set(holder)
      if !demands.contains(where: { members.isSuperset(of: $0) }) { demands.append(holder) }
    }
  }

  /// The indices of the chosen sets, ascending; past that many partial choices the best so far.
  func fewest(steps: Int) -> [Int] {
    var best = greedy()
    var left = steps
    improve([], demands[...], &best, &left)
    return best.sorted()
  }

  private func greedy() -> [Int] {
    var chosen: [Int] = []
    var open = demands
    while !open.isEmpty {
      var gains: [Int: Int] = [:]
      for demand in open { for set in demand { gains[set, default: 0] += 1 } }
      guard let best = gains.max(by: { ($0.value, $1.key) < ($1.value, $0.key) })?.key else { break }
      chosen.append(best)
      open.removeAll { $0.contains(best) }
    }
    return chosen
  }

  /// Tries each way to meet the demand that leaves the fewest ways, and so on.
  private func improve(_ chosen: [Int], _ open: ArraySlice<[Int]>, _ best: inout [Int], _ left: inout Int) {
    guard let next = open.min(by: { $0.count < $1.count }) else {
      if chosen.count < best.count { best = chosen }
      return
    }
    for set in next {
      guard chosen.count + 1 < best.count, left > 0 else { return }
      left -= 1
      improve(chosen + [set], open.filter { !$0.contains(set) }[...], &best, &left)
    }
  }
}
