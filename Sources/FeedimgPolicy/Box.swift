import FeedimgModel

/// Some regions of each axis of a space, and all states in which every fact is in one of its regions.
package struct Box: Sendable, Hashable {
  /// For each axis, in their order, the indices of the regions.
  package var choices: [Set<Int>]

  /// The box of all states.
  init(all space: StateSpace) { choices = space.axes.map { Set($0.regions.indices) } }

  init(choices: [Set<Int>]) { self.choices = choices }

  /// The box in which all conditions hold; empty if they contradict each other.
  ///
  /// Their thresholds must split the axes of the space.
  init(of conditions: [Condition], in space: StateSpace) {
    choices = space.axes.map { axis in
      let asked = conditions.filter { $0.fact == axis.fact }
      return Set(
        axis.regions.indices.filter { index in asked.allSatisfy { $0.holds(in: axis.regions[index]) } }
      )
    }
  }

  /// The number of states, impossible ones included.
  package var count: Int { choices.reduce(1) { $0 * $1.count } }
}

extension StateSpace {
  /// The possible states of a box, ascending.
  package func states(in box: Box) -> [Int] {
    var states = [0]
    for (choice, stride) in zip(box.choices, strides) {
      let offsets = choice.sorted().map { $0 * stride }
      var next: [Int] = []
      next.reserveCapacity(states.count * offsets.count)
      for state in states { for offset in offsets { next.append(state + offset) } }
      states = next
    }
    return constraint == nil ? states : states.filter(isPossible)
  }
}

extension StateSpace {
  /// Disjoint boxes that cover exactly some states, given in ascending order; not always the fewest.
  package func partition(_ states: [Int]) -> [Box] {
    slices(states[...], axis: 0).map { Box(choices: $0) }
  }

  /// One box for each class of equal slices along an axis, then recursively along the next axes.
  private func slices(_ states: ArraySlice<Int>, axis: Int) -> [[Set<Int>]] {
    guard !states.isEmpty else { return [] }
    guard axis < axes.count else { return [[]] }
    var order: [[Int]] = []
    var regions: [[Int]: Set<Int>] = [:]
    var rest = states
    while let first = rest.first {
      let region = first / strides[axis]
      let end = rest.firstIndex { $0 / strides[axis] != region } ?? rest.endIndex
      let slice = rest[..<end].map { $0 - region * strides[axis] }
      if regions[slice] == nil { order.append(slice) }
      regions[slice, default: []].insert(region)
      rest = rest[end...]
    }
    return order.flatMap { slice in
      slices(slice[...], axis: axis + 1).map { [regions[slice] ?? []] + $0 }
    }
  }

  /// A box in words, such as `network ethernet/other, original remote/none`, or `every state`.
  package func text(_ box: Box) -> String {
    let parts = zip(axes, box.choices).compactMap { axis, choice in
      choice.count == axis.regions.count
        ? nil : axis.fact.name + " " + axis.labels(choice.sorted()).joined(separator: "/")
    }
    return parts.isEmpty ? "every state" : parts.joined(separator: ", ")
  }
}

/// Covers a set of states with few boxes, for people to read.
///
/// Boxes may overlap and may include impossible states.
package struct BoxCover {
  private let space: StateSpace

  /// Beyond these limits, the result still covers the states, but perhaps not with the fewest boxes.
  private static let maximumStateCount = 20_000
  private static let maximumBoxCount = 400
  private static let maximumStepCount = 4000

  package init(in space: StateSpace) { self.space = space }

  /// The fewest boxes that hold these states and no other possible state, ordered by their first states.
  ///
  /// The states must be possible and given in ascending order.
  package func boxes(covering states: [Int]) -> [Box] {
    guard !states.isEmpty else { return [] }
    let parts = space.partition(states)
    guard parts.count > 1, space.count <= Self.maximumStateCount,
      let candidates = largestBoxes(within: states)
    else { return parts }
    let chosen = Selection(candidates.map { space.states(in: $0) }, covering: states)
      .fewest(steps: Self.maximumStepCount)
    return chosen.count < parts.count ? chosen.map { candidates[$0] } : parts
  }

  /// Few boxes that hold these states and no other possible state.
  ///
  /// Each state is in one box.
  ///
  /// The states must be possible and given in ascending order.
  package func disjointBoxes(covering states: [Int]) -> [Box] {
    let fewest = boxes(covering: states)
    let isDisjoint = fewest.reduce(0) { $0 + space.states(in: $1).count } == states.count
    return isDisjoint ? fewest : space.partition(states)
  }

  /// All boxes within the states, ascending, that no larger such box contains, ordered by their first states.
  ///
  /// Starts with the box of all states and removes the other states box by box. Each removal leaves one
  /// smaller box for each axis. This is the sharp product of multi-valued logic, which yields all prime
  /// implicants. Returns nil if there are more than ``maximumBoxCount``.
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
      guard next.count <= Self.maximumBoxCount else { return nil }
      boxes = next
    }
    return boxes.compactMap { box in space.states(in: box).first.map { (box, $0) } }
      .sorted { $0.1 < $1.1 }
      .map(\.0)
  }

  /// The possible states that are not in a list.
  private func others(than states: [Int]) -> [Int] {
    var isListed = [Bool](repeating: false, count: space.count)
    for state in states { isListed[state] = true }
    return isListed.indices.filter { !isListed[$0] && space.isPossible($0) }
  }
}

extension Box {
  func isSubset(of other: Box) -> Bool { zip(choices, other.choices).allSatisfy { $0.isSubset(of: $1) } }

  func isDisjoint(from other: Box) -> Bool {
    zip(choices, other.choices).contains { $0.isDisjoint(with: $1) }
  }

  /// The largest boxes within this one that are disjoint from another.
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

/// Chooses the fewest sets that together hold all elements.
struct Selection {
  /// For each element that matters, the sets that hold it.
  ///
  /// No element's sets include all sets of another.
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
    // A choice that covers an element of fewer sets also covers each element whose sets include them.
    demands = []
    for holder in Set(holders).sorted(by: { ($0.count, $0.first ?? 0) < ($1.count, $1.first ?? 0) }) {
      let members = Set(holder)
      if !demands.contains(where: { members.isSuperset(of: $0) }) { demands.append(holder) }
    }
  }

  /// The indices of the chosen sets, ascending.
  ///
  /// After `steps` partial choices, returns the best choice so far.
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

  /// Branches on the element that the fewest sets hold.
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
