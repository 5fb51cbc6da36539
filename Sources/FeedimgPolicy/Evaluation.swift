package import FeedimgModel

/// The rule of a policy that decides each state of a space.
package struct Evaluation: Sendable {
  package let table: PolicyTable
  package let space: StateSpace
  /// For each state, the index of the first rule that applies, counted from zero; -1 in a gap and in an
  /// impossible state.
  private let first: [Int32]
  private let laws: LawTable

  /// Enumerates the states of a space, which is split at least at all conditions of the policy.
  init(_ table: PolicyTable, in space: StateSpace) {
    self.table = table
    self.space = space
    var first = [Int32](repeating: -1, count: space.count)
    for (index, rule) in table.rules.enumerated() {
      for state in space.states(in: Box(of: rule.conditions, in: space)) where first[state] < 0 {
        first[state] = Int32(index)
      }
    }
    self.first = first
    laws = LawTable(table.rules, in: space)
  }

  /// The index of the rule that decides a state, counted from zero; nil in a gap.
  func rule(at state: Int) -> Int? { first[state] < 0 ? nil : Int(first[state]) }

  /// The decision in a state; nil in a gap.
  package func decision(at state: Int) -> Decision? {
    rule(at: state).map { laws.decision(of: $0, at: state) }
  }

  /// The decision of a rule, counted from zero, in a state in which it applies.
  func decision(of rule: Int, at state: Int) -> Decision { laws.decision(of: rule, at: state) }

  /// The possible states without a rule, ascending.
  var gap: [Int] { first.indices.filter { first[$0] < 0 && space.isPossible($0) } }

  /// - Throws: ``PolicyErrors`` if some states have no rule.
  func requireRules() throws(PolicyErrors) {
    guard !gap.isEmpty else { return }
    throw PolicyErrors(errors: PolicyCheck(self).gap.map(\.problem))
  }
}

/// The decisions of a policy's rules under the laws, which depend on the network and the variants only.
///
/// Computed once for each rule; states that differ only in other facts share the decision.
struct LawTable: Sendable {
  /// For each rule, one decision for each combination of network, original and thumbnail.
  private let decisions: [[Decision]]
  private let network: Int
  private let original: Int
  private let thumbnail: Int

  private static let situations = NetworkKind.allCases.flatMap { network in
    Presence.allCases.flatMap { original in
      Presence.allCases.map { Situation(network: network, original: original, thumbnail: $0) }
    }
  }

  init(_ rules: [Rule], in space: StateSpace) {
    decisions = rules.map { rule in Self.situations.map(rule.decision) }
    func stride(_ fact: Fact) -> Int {
      zip(space.axes, space.strides).first { $0.0.fact == fact }?.1 ?? 1
    }
    (network, original, thumbnail) = (stride(.network), stride(.original), stride(.thumbnail))
  }

  /// The decision of a rule in a state in which it applies.
  func decision(of rule: Int, at state: Int) -> Decision {
    decisions[rule][(state / network % 5 * 3 + state / original % 3) * 3 + state / thumbnail % 3]
  }
}
