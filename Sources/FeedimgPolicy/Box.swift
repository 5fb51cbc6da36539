import FeedimgModel

/// Some regions of each axis of a space, and with them all states in which every fact is in one of its regions.
package struct Box: Sendable, Hashable {
  /// One set for each axis, in the order of the axes.
  package var choices: [RegionSet]

  /// The box of all states.
  init(all space: StateSpace) { choices = space.axes.map { RegionSet(all: $0.regions.count) } }

  init(choices: [RegionSet]) { self.choices = choices }

  /// The box in which all conditions hold; empty where they contradict each other.
  ///
  /// - Parameters:
  ///   - conditions: Conditions that the space is cut for.
  ///   - space: The space.
  init(of conditions: [Condition], in space: StateSpace) {
    choices = space.axes.map { axis in
      let asked = conditions.filter { $0.fact == axis.fact }
      return RegionSet(
        axis.regions.indices.filter { index in asked.allSatisfy { $0.holds(in: axis.regions[index]) } },
        of: axis.regions.count
      )
    }
  }

  /// Whether there is no state in it.
  var isEmpty: Bool { choices.contains { $0.isEmpty } }

  /// The number of states in it, impossible ones included.
  package var count: Int { choices.reduce(1) { $0 * $1.count } }
}

extension StateSpace {
  /// The states of a box in which a situation can be, ascending.
  package func states(in box: Box) -> [Int] {
    var states = [0]
    for (choice, stride) in zip(box.choices, strides) {
      let offsets = choice.indices.map { $0 * stride }
      var next: [Int] = []
      next.reserveCapacity(states.count * offsets.count)
      for state in states { for offset in offsets { next.append(state + offset) } }
      states = next
    }
    return tie == nil ? states : states.filter(isPossible)
  }
}
