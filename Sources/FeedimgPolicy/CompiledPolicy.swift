package import FeedimgModel

/// A policy that has a rule for every state, with all decisions computed in advance.
package final class CompiledPolicy: Sendable {
  package let table: PolicyTable
  /// The distinct decisions of all states.
  private let decisions: [Decision]
  /// For each state, the index of its decision.
  ///
  /// A policy makes few distinct decisions, so both arrays stay in the L1 cache.
  private let choices: [UInt32]
  private let index: StateIndex
  /// The names of the facts that rules depend on, with those that they are derived from.
  private let facts: Set<String>

  /// Such as `default`.
  package var name: String { table.name }

  /// Computes all decisions.
  ///
  /// - Throws: ``PolicyErrors`` if some states have no rule, or if there are too many states.
  package init(_ table: PolicyTable) throws(PolicyErrors) {
    let space = try table.space()
    let evaluation = Evaluation(table, in: space)
    try evaluation.requireRules()
    self.table = table
    index = StateIndex(space)
    facts = Set(table.rules.flatMap(\.conditions).flatMap { [$0.fact.name] + $0.fact.inputs })
    // Impossible states are never looked up, but they need an entry in the array.
    let filler = table.rules[0].decision(in: space.situation(at: 0))
    var decisions: [Decision] = []
    var places: [Decision: UInt32] = [:]
    choices = (0..<space.count).map { state in
      let decision = evaluation.decision(at: state) ?? filler
      if let place = places[decision] { return place }
      let place = UInt32(decisions.count)
      places[decision] = place
      decisions.append(decision)
      return place
    }
    self.decisions = decisions
  }

  /// Whether a rule depends on a fact, so that it must be read.
  package func depends(on fact: Fact) -> Bool { facts.contains(fact.name) }

  /// Whether a rule depends on the cost of data.
  package var needsCost: Bool { depends(on: .metered) || depends(on: .roaming) }

  /// Decides a situation: the first rule that applies, then the laws.
  ///
  /// Looks up one array element, allocates nothing and cannot fail.
  package func decide(_ situation: Situation) -> Decision {
    decisions[Int(choices[index.state(of: situation)])]
  }

  /// Why a rule applies in a situation, such as `network is cellular; always original is no`, or `always`.
  ///
  /// The rule's number must come from a decision of this policy.
  package func why(rule: Int, in situation: Situation) -> String {
    table.rules[rule - 1].why(in: situation)
  }

  /// The file and line of a rule, such as `default.md:10`.
  ///
  /// The rule's number must come from a decision of this policy.
  package func place(ofRule rule: Int) -> String {
    table.rules[rule - 1].line.map { "\(table.fileName):\($0)" } ?? "\(table.fileName) rule \(rule)"
  }
}

extension Rule {
  /// Why the rule applies in a situation that it covers.
  package func why(in situation: Situation) -> String {
    conditions.isEmpty ? "always" : conditions.map { $0.statement(in: situation) }.joined(separator: "; ")
  }
}

extension PolicyTable {
  /// The states that the rules can tell apart.
  ///
  /// - Throws: ``PolicyErrors`` if there are too many; it names the fact with the most regions.
  package func space() throws(PolicyErrors) -> StateSpace {
    try space(of: rules.flatMap(\.conditions))
  }

  func space(of conditions: [Condition]) throws(PolicyErrors) -> StateSpace {
    try StateSpace(of: conditions, file: fileName)
  }
}

/// Finds the number of a situation's state.
///
/// A class, because copying its fields takes longer than one decision.
final class StateIndex: Sendable {
  /// The facts with words that are stored as one byte of the situation.
  private let words: [(offset: Int, stride: Int)]
  /// The largest quantity of each known region; a larger one is in a later region.
  private let thresholds: [(offset: Int, bound: Int, stride: Int)]
  /// The facts of the application, which are not stored as bytes of the situation.
  private let others: [(fact: Fact, stride: Int)]

  init(_ space: StateSpace) {
    var words: [(offset: Int, stride: Int)] = []
    var thresholds: [(offset: Int, bound: Int, stride: Int)] = []
    var others: [(fact: Fact, stride: Int)] = []
    for (axis, stride) in zip(space.axes, space.strides) {
      if let offset = axis.fact.quantityOffset {
        // The last known region ends below `Int.max`, which stands for `unknown`, the highest region.
        for bound in axis.upperBounds.dropLast() + [.max - 1] {
          thresholds.append((offset, bound, stride))
        }
      } else if let offset = axis.fact.wordOffset {
        words.append((offset, stride))
      } else {
        others.append((axis.fact, stride))
      }
    }
    (self.words, self.thresholds, self.others) = (words, thresholds, others)
  }

  /// The number of the situation's state in the space.
  ///
  /// The sums cannot overflow, because the number of states is bounded.
  func state(of situation: Situation) -> Int {
    var state = withUnsafeBytes(of: situation) { bytes in
      var state = 0
      for word in words {
        state &+= Int(bytes.load(fromByteOffset: word.offset, as: UInt8.self)) &* word.stride
      }
      for threshold in thresholds {
        let quantity = bytes.load(fromByteOffset: threshold.offset, as: Int.self)
        // The mask is all ones if the quantity is larger. A branch would often be predicted wrongly.
        state &+= ((threshold.bound &- quantity) >> 63) & threshold.stride
      }
      return state
    }
    for (fact, stride) in others { state &+= fact.ordinal(in: situation) &* stride }
    return state
  }
}
