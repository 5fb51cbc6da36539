import FeedimgModel

/// Checks a policy's rules in every state that they can tell apart.
struct PolicyCheck {
  private let table: PolicyTable
  private let space: StateSpace
  private let evaluation: Evaluation
  /// For each rule, the states that it decides, ascending.
  private let decided: [[Int]]

  init(_ evaluation: Evaluation) {
    self.evaluation = evaluation
    (table, space) = (evaluation.table, evaluation.space)
    var decided = [[Int]](repeating: [], count: table.rules.count)
    for state in 0..<space.count {
      if let rule = evaluation.rule(at: state) { decided[rule].append(state) }
    }
    self.decided = decided
  }

  var reachedRuleCount: Int { decided.count { !$0.isEmpty } }

  /// Reports the states without a rule.
  var gap: [Finding] {
    let states = evaluation.gap
    guard !states.isEmpty else { return [] }
    let count = "\(states.count) \(states.count == 1 ? "state" : "states")"
    return [evaluation.finding(.gap, states) { "no rule for: \($0) (\(count))" }]
  }

  /// Rules that can never match, and rules that are never reached.
  var unreachable: [Finding] {
    table.rules.indices.filter { decided[$0].isEmpty }.map { index in
      let rule = table.rules[index]
      let matches = matches(of: rule)
      guard !matches.isEmpty else {
        let asked = rule.conditions.map { "\($0.fact.name) \($0.text)" }.joined(separator: ", ")
        return evaluation.finding(.neverMatches, [], of: rule) { _ in
          "rule \(rule.number) can never match: no state has \(asked)"
        }
      }
      let covering = Set(matches.compactMap(evaluation.rule)).sorted().map { table.rules[$0].number }
      let numbers = covering.map(String.init).joined(separator: ", ")
      var finding = evaluation.finding(.neverReached, matches, of: rule) { _ in
        "rule \(rule.number) is never reached: covered by rule\(covering.count == 1 ? "" : "s") \(numbers)"
      }
      finding.coveringRules = covering
      return finding
    }
  }

  /// Rules that change nothing: without them, the rules below decide the same.
  var redundant: [Finding] {
    // Visit rules from last to first. `below` holds the decision of the rules below the current one.
    var below = [Int](repeating: -1, count: space.count)
    var findings: [Finding] = []
    for (index, rule) in table.rules.enumerated().reversed() {
      let changes = decided[index].contains { state in
        guard below[state] >= 0 else { return true }
        var other = evaluation.decision(of: below[state], at: state)
        other.rule = rule.number
        return other != evaluation.decision(of: index, at: state)
      }
      if !changes, !decided[index].isEmpty {
        findings.append(
          evaluation.finding(.changesNothing, decided[index], of: rule) { _ in
            "rule \(rule.number) changes nothing: without it the rules below decide the same"
          }
        )
      }
      for state in matches(of: rule) { below[state] = index }
    }
    return findings.reversed()
  }

  /// Rules that show something else although the original is cached.
  var hidden: [Finding] {
    table.rules.indices.compactMap { index in
      let rule = table.rules[index]
      let states = decided[index].filter { state in
        evaluation.decision(of: index, at: state).image != .original
          && space.situation(at: state).original == .cached
      }
      guard !states.isEmpty else { return nil }
      return evaluation.finding(.hidesCachedOriginal, states, of: rule) {
        "rule \(rule.number) hides a cached original: \($0)"
      }
    }
  }

  /// Facts for which the policy loads more as data becomes dearer.
  var dearer: [Finding] {
    Self.dearerValues.flatMap { fact, pairs -> [Finding] in
      guard let axis = space.axes.firstIndex(where: { $0.fact == fact }), let words = fact.words else {
        return []
      }
      let stride = space.strides[axis]
      let places = pairs.map { (words.firstIndex(of: $0.from) ?? 0, words.firstIndex(of: $0.to) ?? 0) }
      var states = pairs.map { _ in [Int]() }
      for base in 0..<space.count where base / stride % words.count == 0 {
        let costs = words.indices.map { evaluation.decision(at: base + $0 * stride)?.cost }
        let pair = places.firstIndex { from, to in
          if let less = costs[from], let more = costs[to] { more > less } else { false }
        }
        if let pair { states[pair].append(base + places[pair].0 * stride) }
      }
      return zip(pairs, states).filter { !$1.isEmpty }.map { pair, states in
        evaluation.finding(.loadsMoreWhenDearer, states.sorted()) {
          "\(fact.name) \(pair.from) → \(pair.to) loads more: \($0)"
        }
      }
    }
  }

  /// Pairs of a value and a dearer one, for each fact that has them.
  ///
  /// If several pairs describe the same states, the first counts. `unknown` may be free or not: its pairs count only
  /// where `no` and `yes` are in order.
  private static let dearerValues: [(fact: Fact, pairs: [(from: String, to: String)])] = [
    (.metered, [("no", "yes"), ("no", "unknown"), ("unknown", "yes")]),
    (.roaming, [("no", "yes")]),
    (.dataSaver, [("off", "on")]),
  ]

  /// The states in which a rule applies, ascending, ignoring the rules above it.
  private func matches(of rule: Rule) -> [Int] { space.states(in: Box(of: rule.conditions, in: space)) }
}

extension PolicyCheck {
  /// Checks a policy's promises in every state that they and the rules can tell apart.
  ///
  /// - Returns: One error for each promise and each rule that breaks it.
  /// - Throws: ``PolicyErrors`` if there are too many states.
  static func brokenPromises(of table: PolicyTable) throws(PolicyErrors) -> [Finding] {
    guard !table.promises.isEmpty else { return [] }
    let conditions = table.rules.flatMap(\.conditions) + table.promises.flatMap(\.conditions)
    let space = try table.space(of: conditions)
    let evaluation = Evaluation(table, in: space)
    return table.promises.flatMap { promise in
      var broken: [Int: [Int]] = [:]
      for state in space.states(in: Box(of: promise.conditions, in: space)) {
        guard let rule = evaluation.rule(at: state),
          !promise.expectations.allSatisfy({ $0.holds(for: evaluation.decision(of: rule, at: state)) })
        else { continue }
        broken[rule, default: []].append(state)
      }
      return broken.sorted { $0.key < $1.key }.map { index, states in
        let rule = table.rules[index]
        var finding = evaluation.finding(.promiseBroken, states, of: rule) {
          "promise \(promise.number) broken by rule \(rule.number): \($0)"
        }
        finding.promise = promise.number
        finding.problem.line = promise.line
        return finding
      }
    }
  }
}

extension Evaluation {
  /// A finding about some states, whose message may name the boxes that cover them.
  fileprivate func finding(
    _ code: Finding.Code,
    _ states: [Int],
    of rule: Rule? = nil,
    _ message: (String) -> String
  ) -> Finding {
    let boxes = BoxCover(in: space).boxes(covering: states).map(space.text)
    // At most nine boxes, and the number of the others.
    let rest = boxes.count - 8
    let shown =
      boxes.prefix(rest > 1 ? 8 : 9).joined(separator: "; ") + (rest > 1 ? "; and \(rest) more" : "")
    return Finding(
      code: code,
      problem: PolicyError(file: table.fileName, line: rule?.line, message(shown)),
      rule: rule?.number,
      boxes: boxes,
      stateCount: states.count,
      witness: states.first.map(space.witness)
    )
  }
}

extension Decision {
  /// The rank of the load by its cost.
  var cost: Int { load.map { $0 == .original ? 2 : 1 } ?? 0 }
}
