package import FeedimgJSON
package import FeedimgModel

/// The states in which two policies decide differently, out of all states that either can tell apart.
///
/// Compares the image shown now, the image shown in the end, and the load. Ignores all other parts of a decision.
package struct PolicyDiff: Sendable, Hashable {
  /// States with the same change.
  package struct Change: Sendable, Hashable {
    /// The effect of the old policy.
    package let from: Decision
    /// The effect of the new policy.
    package let to: Decision
    package let stateCount: Int
    /// The states, as few boxes, in words.
    package let boxes: [String]
    /// One of the states.
    package let witness: Witness

    /// 1 if the new policy loads more, -1 if it loads less, 0 otherwise.
    package var weight: Int { (to.cost - from.cost).signum() }

    /// Such as `load nothing → original   (2 states)`.
    package var headline: String {
      func step(_ name: String, _ part: DecisionPart) -> String? {
        let (old, new) = (part.value(in: from), part.value(in: to))
        return old == new ? nil : "\(name) \(old) → \(new)"
      }
      // The final image follows from the load.
      let parts = [step("load", .load) ?? step("image", .image), step("now", .show)].compactMap { $0 }
      return parts.joined(separator: ", ") + "   (\(stateCount) \(stateCount == 1 ? "state" : "states"))"
    }
  }

  package let from: String
  package let to: String
  package let stateCount: Int
  /// Changes that load less, then those that load more, then the others, each by the number of states.
  package let changes: [Change]

  package var differingCount: Int { changes.reduce(0) { $0 + $1.stateCount } }
  package var lessCount: Int { count { $0 < 0 } }
  package var moreCount: Int { count { $0 > 0 } }

  /// Compares two policies.
  ///
  /// - Throws: ``PolicyErrors`` if either has a state without a rule, or if both together have too many states.
  package init(from old: PolicyTable, to new: PolicyTable) throws(PolicyErrors) {
    let space = try new.space(of: (old.rules + new.rules).flatMap(\.conditions))
    let before = Evaluation(old, in: space)
    let after = Evaluation(new, in: space)
    for evaluation in [before, after] { try evaluation.requireRules() }
    var states: [[Decision]: [Int]] = [:]
    for state in 0..<space.count where space.isPossible(state) {
      guard let one = before.decision(at: state)?.effect, let other = after.decision(at: state)?.effect,
        one != other
      else { continue }
      states[[one, other], default: []].append(state)
    }
    from = old.name
    to = new.name
    stateCount = space.possibleCount
    changes = states.map { effects, states in
      Change(
        from: effects[0],
        to: effects[1],
        stateCount: states.count,
        boxes: BoxCover(in: space).boxes(covering: states).map(space.text),
        witness: space.witness(at: states[0])
      )
    }
    .sorted { one, other in
      one.order == other.order ? one.boxes.lexicographicallyPrecedes(other.boxes) : one.order < other.order
    }
  }

  /// Such as `default → data-saver: 126 of 540 states differ; 120 load less, 6 load more`.
  package var headline: String {
    "\(from) → \(to): \(differingCount) of \(stateCount) states differ;"
      + " \(lessCount) load less, \(moreCount) load more"
  }

  private func count(_ isCounted: (Int) -> Bool) -> Int {
    changes.reduce(0) { $0 + (isCounted($1.weight) ? $1.stateCount : 0) }
  }
}

extension PolicyDiff.Change {
  /// Sorts changes that load less first, then those that load more, then the others, each by state count.
  fileprivate var order: (Int, Int) { (weight == 0 ? 2 : weight, -stateCount) }
}

extension PolicyDiff {
  /// The comparison as an object.
  package var json: JSONValue {
    [
      "from": .string(from),
      "to": .string(to),
      "states": .integer(stateCount),
      "differ": .integer(differingCount),
      "loadLess": .integer(lessCount),
      "loadMore": .integer(moreCount),
      "changes": .array(changes.map(\.json)),
    ]
  }
}

extension PolicyDiff.Change {
  fileprivate var json: JSONValue {
    [
      "from": from.effectJSON,
      "to": to.effectJSON,
      "loads": .string(weight > 0 ? "more" : weight < 0 ? "less" : "same"),
      "states": .integer(stateCount),
      "boxes": .array(boxes.map(JSONValue.string)),
      "witness": witness.json,
    ]
  }
}

extension Decision {
  /// The decision with only the parts that users notice; the other parts have fixed values.
  fileprivate var effect: Decision {
    var effect = Self.withoutEffect
    (effect.image, effect.show, effect.load) = (image, show, load)
    return effect
  }

  private static let withoutEffect = Decision(
    ceiling: .placeholder,
    in: Situation(network: .offline, original: .none, thumbnail: .none),
    rule: 0
  )

  fileprivate var effectJSON: JSONValue { .object(members(of: [.image, .show, .load])) }
}
