package import FeedimgModel

/// A policy that has a rule for every state, with all its decisions made in advance.
package struct CompiledPolicy: Sendable {
  package let table: PolicyTable
  /// Those that are made in any state, each once.
  private let decisions: [Decision]
  /// The index of each state's decision.
  ///
  /// Even a policy with many states makes few decisions, so both stay in the fastest of the processor's caches.
  private let choices: [UInt32]
  private let index: StateIndex

  /// Such as `default`.
  package var name: String { table.name }

  /// Makes all decisions.
  ///
  /// - Parameter table: The policy.
  /// - Throws: ``PolicyErrors`` where there is no rule for some states, or too many states.
  package init(_ table: PolicyTable) throws(PolicyErrors) {
    let space = try table.space()
    let evaluation = Evaluation(table, in: space)
    guard !evaluation.hasGap else {
      throw PolicyErrors(errors: PolicyCheck(evaluation).gap.map(\.problem))
    }
    self.table = table
    index = StateIndex(space)
    // States in which no situation can be are never looked up, but take their places.
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

  /// Whether a rule may depend on a fact.
  package func asks(_ fact: Fact) -> Bool { table.columns.contains(fact) }

  /// What the policy decides: the first rule that applies, then the laws.
  ///
  /// One look-up in an array; allocates nothing and cannot fail.
  package func decide(_ situation: Situation) -> Decision {
    decisions[Int(choices[index.state(of: situation)])]
  }

  /// Why a rule applies in a situation, such as `network is cellular; always original is no`, or `always`.
  ///
  /// The rule's number must be one that a decision of this policy told.
  package func why(rule: Int, in situation: Situation) -> String {
    table.rules[rule - 1].why(in: situation)
  }

  /// Where a rule stands, such as `default.md:10`.
  ///
  /// The rule's number must be one that a decision of this policy told.
  package func place(ofRule rule: Int) -> String {
    table.rules[rule - 1].line.map { "\(table.fileName):\($0)" } ?? "\(table.fileName) rule \(rule)"
  }
}

extension Rule {
  /// Why the rule applies in a situation in which it does.
  package func why(in situation: Situation) -> String {
    conditions.isEmpty ? "always" : conditions.map { $0.statement(in: situation) }.joined(separator: "; ")
  }
}

extension PolicyTable {
  /// The states that the rules can tell apart.
  ///
  /// - Throws: ``PolicyErrors`` where there are too many, naming the fact to blame.
  package func space() throws(PolicyErrors) -> StateSpace {
    try space(of: rules.flatMap(\.conditions))
  }

  func space(of conditions: [Condition]) throws(PolicyErrors) -> StateSpace {
    do throws(TooManyStatesError) {
      return try StateSpace(of: conditions)
    } catch {
      throw PolicyErrors(errors: [PolicyError(file: fileName, error.message)])
    }
  }
}
