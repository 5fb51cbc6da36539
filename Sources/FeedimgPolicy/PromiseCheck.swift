import FeedimgModel

/// The check of a policy's promises, in every state that they and the rules can tell apart.
struct PromiseCheck {
  /// For each promise one error for each rule that breaks it.
  let findings: [Finding]

  /// - Throws: ``PolicyErrors`` where there are too many states.
  init(_ table: PolicyTable) throws(PolicyErrors) {
    guard !table.promises.isEmpty else {
      findings = []
      return
    }
    let conditions = table.rules.flatMap(\.conditions) + table.promises.flatMap(\.conditions)
    let space = try table.space(of: conditions)
    let evaluation = Evaluation(table, in: space)
    findings = table.promises.flatMap { promise in
      var broken: [Int: [Int]] = [:]
      for state in space.states(in: Box(of: promise.conditions, in: space)) {
        guard let decision = evaluation.decision(at: state),
          !promise.expectations.allSatisfy({ $0.holds(for: decision) })
        else { continue }
        broken[decision.rule, default: []].append(state)
      }
      return broken.sorted { $0.key < $1.key }.map { rule, states in
        Self.finding(promise, rule, states, table, space)
      }
    }
  }

  private static func finding(
    _ promise: Promise,
    _ rule: Int,
    _ states: [Int],
    _ table: PolicyTable,
    _ space: StateSpace
  ) -> Finding {
    let boxes = BoxCover(in: space).boxes(covering: states).map(space.text)
    let text = "promise \(promise.number) broken by rule \(rule): \(PolicyCheck.shown(boxes))"
    return Finding(
      code: .promiseBroken,
      problem: PolicyError(file: table.fileName, line: promise.line, text),
      rule: rule,
      promise: promise.number,
      boxes: boxes,
      stateCount: states.count,
      witness: states.first.map(space.witness)
    )
  }
}
