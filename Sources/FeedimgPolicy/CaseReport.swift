package import FeedimgJSON
import FeedimgModel

/// One row of a table of cases: the decision that a policy must make in every state of the row.
package struct PolicyCase: Sendable, Hashable {
  /// The author's name for the case; empty if the table has no column `case`.
  package let name: String
  /// The row's line number, counted from one.
  package let line: Int
  package let conditions: [Condition]
  package let expectations: [Expectation]
}

/// The cases of a file `NAME.tests.md`.
package struct PolicyCases: Sendable, Hashable {
  package let fileName: String
  package let cases: [PolicyCase]

  /// Reads the cases from every table of a Markdown text, as ``PolicyTable`` takes it.
  ///
  /// - Throws: ``PolicyErrors`` with all problems of the file, or if it has no case.
  package init(
    fileName: String,
    markdown: [UInt8],
    facts catalog: FactCatalog = .standard
  ) throws(PolicyErrors) {
    var problems = ProblemList(file: fileName)
    var cases: [PolicyCase] = []
    for table in try MarkdownTable.tables(in: markdown, file: fileName) {
      let parts = DecisionPart.allCases.map(\.rawValue)
      let reader = TableReader(table, facts: catalog, outcomes: parts, others: ["case"], problems: &problems)
      reader.forEachExpectation(problems: &problems) { _, row, conditions, expectations in
        let name = zip(reader.columns, row.cells).first { $0.0 == .other("case") }?.1.text ?? ""
        cases.append(
          PolicyCase(name: name, line: row.line, conditions: conditions, expectations: expectations)
        )
      }
    }
    try problems.check()
    guard !cases.isEmpty else {
      throw PolicyErrors(PolicyError(file: fileName, "no cases, expected a table of cases"))
    }
    self.fileName = fileName
    self.cases = cases
  }
}

/// The result of the cases of a policy.
package struct CaseReport: Sendable, Hashable {
  /// A case and the first state in which the policy decides differently.
  package struct Failure: Sendable, Hashable {
    package let testCase: PolicyCase
    /// Such as `x.tests.md:5`.
    package let place: String
    /// The state in which the case fails.
    package let witness: Witness
    /// One line, such as `load is thumbnail by rule 4, expected original`.
    package let message: String
  }

  /// The name of the policy.
  package let policy: String
  /// The file of the cases, as it was given.
  package let fileName: String
  let cases: [PolicyCase]
  package let failures: [Failure]
  /// The numbers of the rules that decided at least one state of a case, ascending.
  package let exercisedRules: [Int]
  package let ruleCount: Int
  /// The number of states that at least one case covers.
  package let checkedStateCount: Int
  package let stateCount: Int

  /// Checks each case in every state that it covers; a gap of the policy fails the case.
  ///
  /// The states are those that the policy and the cases together can tell apart.
  ///
  /// - Throws: ``PolicyErrors`` if there are too many states.
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

  package var caseCount: Int { cases.count }

  /// One line per failure, such as `FAIL x.tests.md:5 LTE, setting off: load is thumbnail by rule 4, expected
  /// original`.
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

  /// The report as an object.
  package var json: JSONValue {
    [
      "policy": .string(policy),
      "file": .string(fileName),
      "ok": .bool(failures.isEmpty),
      "cases": .integer(caseCount),
      "passed": .integer(caseCount - failures.count),
      "rules": .integer(ruleCount),
      "exercisedRules": .array(exercisedRules.map(JSONValue.integer)),
      "states": .integer(stateCount),
      "checkedStates": .integer(checkedStateCount),
      "failures": .array(
        failures.map { failure in
          [
            "case": .string(failure.testCase.name), "place": .string(failure.place),
            "message": .string(failure.message), "witness": failure.witness.json,
          ]
        }
      ),
    ]
  }
}

extension PolicyCase {
  /// Describes how a decision, or a gap, differs from the expected decision; nil if it does not.
  fileprivate func fault(of decision: Decision?) -> String? {
    guard let decision else { return "no rule applies" }
    guard let broken = expectations.first(where: { !$0.holds(for: decision) }) else { return nil }
    let found = broken.part.value(in: decision)
    let rule = broken.part == .rule ? "" : " by rule \(decision.rule)"
    return "\(broken.part.rawValue) is \(found)\(rule), expected \(broken.text)"
  }
}

extension CaseReport {
  /// The report as one JUnit XML `testsuite`, which continuous integration servers read.
  package var junit: String {
    var text =
      #"<testsuite name="\#(Self.escaped(policy))" tests="\#(caseCount)" failures="\#(failures.count)">"#
      + "\n"
    for testCase in cases {
      let name = testCase.name.isEmpty ? "line \(testCase.line)" : testCase.name
      let start =
        #"  <testcase name="\#(Self.escaped(name))" classname="\#(Self.escaped(policy))""#
        + #" file="\#(Self.escaped(fileName))" line="\#(testCase.line)""#
      if let failure = failures.first(where: { $0.testCase == testCase }) {
        text +=
          start + ">\n" + #"    <failure message="\#(Self.escaped(failure.message))"/>"# + "\n  </testcase>\n"
      } else {
        text += start + "/>\n"
      }
    }
    return text + "</testsuite>\n"
  }

  /// Several reports as one document.
  package static func junit(_ reports: [CaseReport]) -> String {
    let suites = reports.map(\.junit).joined()
    return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n\(suites)</testsuites>\n"
  }

  /// The text for an attribute (XML 1.0 §2.4).
  ///
  /// Control characters, which XML cannot hold, become question marks.
  private static func escaped(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "\t": escaped += " "
      case "\0"..<" ", "\u{FFFE}", "\u{FFFF}": escaped += "?"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
