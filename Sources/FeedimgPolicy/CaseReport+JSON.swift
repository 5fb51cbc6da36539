package import FeedimgJSON
import FeedimgModel

extension CaseReport {
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
      "failures": .array(failures.map(\.json)),
    ]
  }
}

extension CaseReport.Failure {
  fileprivate var json: JSONValue {
    [
      "case": .string(testCase.name),
      "place": .string(place),
      "message": .string(message),
      "witness": witness.json,
    ]
  }
}
