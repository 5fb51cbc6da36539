package import FeedimgJSON
package import FeedimgModel

/// A policy's decisions in every state.
///
/// Each row is one state, or a box of states in which one rule makes the same decision. Each state is in one row.
package struct DecisionTable: Sendable, Hashable {
  /// Some states and their decision.
  package struct Row: Sendable, Hashable {
    /// The values of each fact, in the grammar of cells; `-` for any value.
    package let facts: [String]
    package let decision: Decision
    package let stateCount: Int
  }

  package let name: String
  /// The facts of the columns, in the order of ``Fact/standard``.
  package let facts: [Fact]
  /// Whether each row is one state.
  private let hasEveryState: Bool
  /// One row per state in the order of states, in which the last fact changes fastest; otherwise by rule, then by
  /// first state.
  package let rows: [Row]

  /// Lists the decisions of a policy.
  ///
  /// - Parameters:
  ///   - table: The policy. States without a rule are omitted.
  ///   - fixed: Facts and their values of interest. Rows without these values are omitted.
  ///   - everyState: Whether each state has a row of its own, for programs, rather than groups for reading.
  /// - Throws: ``PolicyErrors`` if there are too many states.
  package init(
    _ table: PolicyTable,
    fixing fixed: [FixedFact] = [],
    everyState: Bool = false
  ) throws(PolicyErrors) {
    let space = try table.space()
    let evaluation = Evaluation(table, in: space)
    let wanted = fixed.map { fact in (fact, axis: space.axes.firstIndex { $0.fact == fact.fact }) }
    func isWanted(_ box: Box) -> Bool {
      wanted.allSatisfy { fact, axis in
        guard let axis else { return true }
        return box.choices[axis].contains { space.axes[axis].regions[$0].contains(fact.value) }
      }
    }
    var single: [Row] = []
    var groups: [Decision: [Int]] = [:]
    for state in 0..<space.count where space.isPossible(state) {
      guard let decision = evaluation.decision(at: state) else { continue }
      guard everyState else {
        groups[decision, default: []].append(state)
        continue
      }
      let box = Box(choices: space.coordinates(of: state).map { [$0] })
      if isWanted(box) { single.append(Row(facts: space.cells(box), decision: decision, stateCount: 1)) }
    }
    var boxes: [(states: [Int], decision: Decision, box: Box)] = []
    for (decision, states) in groups {
      for box in BoxCover(in: space).disjointBoxes(covering: states) where isWanted(box) {
        boxes.append((space.states(in: box), decision, box))
      }
    }
    boxes.sort { ($0.decision.rule, $0.states[0]) < ($1.decision.rule, $1.states[0]) }
    name = table.name
    facts = space.axes.map(\.fact)
    hasEveryState = everyState
    rows =
      single
      + boxes.map { Row(facts: space.cells($0.box), decision: $0.decision, stateCount: $0.states.count) }
  }

  /// The names of the columns.
  package var header: [String] {
    facts.map(\.name) + ["show now", "load", "upgrade", "rule"] + (hasEveryState ? [] : ["states"])
  }

  /// The cells of a row, one for each column; `-` for the upgrade `never`.
  package func cells(_ row: Row) -> [String] {
    let upgrade = row.decision.upgrade == .never ? "-" : row.decision.upgrade.rawValue
    let load = DecisionPart.load.value(in: row.decision)
    return row.facts + [row.decision.show.rawValue, load, upgrade, String(row.decision.rule)]
      + (hasEveryState ? [] : [String(row.stateCount)])
  }
}

/// A fact and the one value of interest.
package struct FixedFact: Sendable, Hashable {
  package let fact: Fact
  let value: Region

  /// Reads a fact and a value that a user typed: one of the fact's words, a quantity, or `unknown`.
  ///
  /// - Throws: ``FactError``, with a suggestion if a known name or value is similar.
  package init(
    _ name: String,
    _ value: String,
    among catalog: FactCatalog = .standard
  ) throws(FactError) {
    fact = try Fact(typed: name, among: catalog)
    self.value = try fact.region(typed: value)
  }
}

extension StateSpace {
  /// The values of each fact in a box, in the grammar of cells; `-` for any value.
  func cells(_ box: Box) -> [String] {
    zip(axes, box.choices).map { axis, choice in
      let rest = Set(axis.regions.indices).subtracting(choice)
      if rest.isEmpty { return "-" }
      if axis.fact.words != nil, rest.count == 1, choice.count > 3 {
        return "not " + axis.labels(rest.sorted()).joined()
      }
      return axis.labels(choice.sorted()).joined(separator: ", ")
    }
  }
}

extension DecisionTable {
  /// Returns a row as an object.
  ///
  /// `state` has the facts of one state; `when` has those with a condition, in the grammar of cells.
  package func json(_ row: Row) -> JSONValue {
    let when = zip(facts, row.facts).filter { $1 != "-" }.map { ($0.name, JSONValue.string($1)) }
    var object: JSONObject = [hasEveryState ? "state" : "when": .object(JSONObject(when))]
    object.append(row.decision.members)
    if !hasEveryState { object.append("states", .integer(row.stateCount)) }
    return .object(object)
  }

  /// The text of a `NAME.golden.md`: cases for every state, which ``PolicyCases`` reads.
  ///
  /// The same policy always gives the same text. A difference between versions is a different decision or a
  /// different deciding rule.
  package var golden: String {
    let parts = DecisionPart.images + DecisionPart.columns + [.rule]
    let header = facts.map(\.name) + ["→ image"] + parts.dropFirst().map(\.rawValue)
    let cells = rows.map { row in row.facts + parts.map { $0.value(in: row.decision) } }
    return """
      # What \(name) decides

      Recorded by `feedimg policy test --record`. Each state is in one row. After an intended change of the
      policy, record again and review the difference.

      \(Self.aligned([header] + cells))
      """
  }

  /// A Markdown table with columns of even width.
  ///
  /// The first row is the header.
  private static func aligned(_ rows: [[String]]) -> String {
    let columns = rows.first?.indices ?? 0..<0
    let widths = columns.map { column in rows.map { $0[column].count }.max() ?? 0 }
    let lines = rows.map { row in
      let cells = columns.map { row[$0] + String(repeating: " ", count: widths[$0] - row[$0].count) }
      return "| " + cells.joined(separator: " | ") + " |"
    }
    let dashes = "|" + widths.map { String(repeating: "-", count: $0 + 2) }.joined(separator: "|") + "|"
    return (lines.prefix(1) + [dashes] + lines.dropFirst()).map { $0 + "\n" }.joined()
  }
}
