import FeedimgModel

/// What came of running the cases of a policy.
package struct CaseReport: Sendable, Hashable {
  /// A case and the first state in which the policy decides otherwise.
  package struct Failure: Sendable, Hashable {
    package let testCase: PolicyCase
    /// Such as `x.tests.md:5`.
    package let place: String
    /// The state.
    package let witness: Witness
    /// One line in words, such as `load is thumbnail by rule 4, expected original`.
    package let message: String
  }

  /// The name of the policy.
  package let policy: String
  /// The file of the cases, as it was given.
  package let fileName: String
  let cases: [PolicyCase]
  package let failures: [Failure]
  /// The numbers of the rules that decided in some state of some case, ascending.
  package let exercisedRules: [Int]
  package let ruleCount: Int
  /// How many states some case covers.
  package let checkedStateCount: Int
  package let stateCount: Int

  /// Checks each case in every state that it covers.
  ///
  /// The states are those that the policy and the cases together can tell apart.
  ///
  /// - Parameters:
  ///   - cases: The cases.
  ///   - table: The policy; a gap fails the cases that cover it.
  /// - Throws: ``PolicyErrors`` where there are too many states.
  package init(_ cases: PolicyCases, of table: PolicyTable) throws(PolicyErrors) {
    let space = try table.space(of: table.rules.flatMap(\.conditions) + cases.cases.flatMap(\.conditions))
    let evaluation = Evaluation(table, in: space)
    var isChecked = [Bool](repeating: false, count: space.count)
    var isExercised = [Bool](repeating: false, count: table.rules.count)
    var failures: [Failure] = []
    for testCase in cases.cases {
      var failure: (state: Int, message: String)?
      for state in space.states(in: Box(of: testCase.conditions, in: space)) {
        isChecked[state] = true
        if let rule = evaluation.rule(at: state) { isExercised[rule] = true }
        failure = failure ?? testCase.fault(of: evaluation.decision(at: state)).map { (state, $0) }
      }
      guard let failure else { continue }
      failures.append(
        Failure(
          testCase: testCase,
          place: "\(cases.fileName):\(testCase.line)",
          witness: space.witness(at: failure.state),
          message: failure.message
        )
      )
    }
    policy = table.name
    fileName = cases.fileName
    self.cases = cases.cases
    self.failures = failures
    exercisedRules = isExercised.indices.filter { isExercised[$0] }.map { table.rules[$0].number }
    ruleCount = table.rules.count
    checkedStateCount = isChecked.count { $0 }
    stateCount = space.possibleCount
  }
}

extension CaseReport {
  package var caseCount: Int { cases.count }

  /// One line a failure, such as `FAIL x.tests.md:5 LTE, setting off: load is thumbnail by rule 4, expected original`.
  package var lines: [String] {
    failures.map { failure in
      let name = failure.testCase.name.isEmpty ? "" : " " + failure.testCase.name
      return "FAIL \(failure.place)\(name): \(failure.message)"
    }
  }

  /// Such as `8 of 8 cases pass; rules exercised 6 of 6; states checked 15 of 90`.
  package var summary: String {
    "\(caseCount - failures.count) of \(caseCount) cases pass;"
      + " rules exercised \(exercisedRules.count) of \(ruleCount);"
      + " states checked \(checkedStateCount) of \(stateCount)"
  }
}

extension PolicyCase {
  /// What is wrong with a decision, nil for a gap; nil if it is as expected.
  fileprivate func fault(of decision: Decision?) -> String? {
    guard let decision else { return "there is no rule" }
    guard let broken = expectations.first(where: { !$0.holds(for: decision) }) else { return nil }
    let found = broken.part.value(in: decision)
    let rule = broken.part == .rule ? "" : " by rule \(decision.rule)"
    return "\(broken.part.rawValue) is \(found)\(rule), expected \(broken.text)"
  }
}
