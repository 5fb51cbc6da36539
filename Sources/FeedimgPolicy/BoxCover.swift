/// Covers a set of states with as few boxes as can be, for people to read.
///
/// Boxes may overlap, and may hold states in which no situation can be.
package struct BoxCover {
  private let space: StateSpace

  /// With more states, boxes or steps the answer is still a cover, but perhaps not the smallest.
  private static let greatestStateCount = 20_000
  private static let greatestBoxCount = 400
  private static let greatestStepCount = 4000

  package init(in space: StateSpace) { self.space = space }

  /// The fewest boxes that hold these states and no other possible ones, in the order of their first states.
  ///
  /// The states must be possible and given in ascending order.
  package func boxes(covering states: [Int]) -> [Box] {
    guard !states.isEmpty else { return [] }
    let parts = space.partition(states)
    guard parts.count > 1, space.count <= Self.greatestStateCount,
      let candidates = largestBoxes(within: states)
    else { return parts }
    let chosen = Selection(candidates.map { space.states(in: $0) }, covering: states)
      .fewest(steps: Self.greatestStepCount)
    return chosen.count < parts.count ? chosen.map { candidates[$0] } : parts
  }

  /// Few boxes that hold these states and no other possible ones, each state once.
  ///
  /// The states must be possible and given in ascending order.
  package func disjointBoxes(covering states: [Int]) -> [Box] {
    let fewest = boxes(covering: states)
    let isDisjoint = fewest.reduce(0) { $0 + space.states(in: $1).count } == states.count
    return isDisjoint ? fewest : space.partition(states)
  }

  /// All boxes within the states that no other such box contains, by their first states.
  ///
  /// Begins with the box of all states and takes away, one by one, boxes that make up the other states: what is
  /// left of a box are its parts beside the taken one, one for each axis. (The sharp product of multi-valued
  /// logic, which yields all prime implicants.)
  ///
  /// - Parameter states: Ascending.
  /// - Returns: nil if there are too many.
  private func largestBoxes(within states: [Int]) -> [Box]? {
    var boxes = [Box(all: space)]
    for taken in space.partition(others(than: states)) {
      var next: [Box] = []
      var remnants: [Box] = []
      for box in boxes {
        if box.isDisjoint(from: taken) { next.append(box) } else { remnants += box.remnants(without: taken) }
      }
      remnants.sort { $0.count > $1.count }
      for remnant in remnants where !next.contains(where: { remnant.isSubset(of: $0) }) {
        next.append(remnant)
      }
      guard next.count <= Self.greatestBoxCount else { return nil }
      boxes = next
    }
    return boxes.compactMap { box in space.states(in: box).first.map { (box, $0) } }
      .sorted { $0.1 < $1.1 }
      .map(\.0)
  }

  /// The possible states that are not among some.
  private func others(than states: [Int]) -> [Int] {
    var isListed = [Bool](repeating: false, count: space.count)
    for state in states { isListed[state] = true }
    return isListed.indices.filter { !isListed[$0] && space.isPossible($0) }
  }
}

extension Box {
  func isSubset(of other: Box) -> Bool { zip(choices, other.choices).allSatisfy { $0.isSubset(of: $1) } }

  func isDisjoint(from other: Box) -> Bool {
    zip(choices, other.choices).contains { $0.intersection($1).isEmpty }
  }

  /// The largest boxes within this one that do not meet another.
  func remnants(without other: Box) -> [Box] {
    choices.indices.compactMap { axis in
      let rest = choices[axis].subtracting(other.choices[axis])
      guard !rest.isEmpty else { return nil }
      var remnant = self
      remnant.choices[axis] = rest
      return remnant
    }
  }
}
