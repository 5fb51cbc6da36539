package import FeedimgJSON
package import FeedimgModel

/// A policy's decisions in every state, grouped for reading.
///
/// Each row is a box of states in which one rule makes the same decision. Each state is in one row.
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
  /// Ordered by rule, then by first state.
  package let rows: [Row]

  /// Groups the decisions of a policy.
  ///
  /// - Parameters:
  ///   - table: The policy. States without a rule are omitted.
  ///   - fixed: Facts and their values of interest. Rows without these values are omitted.
  /// - Throws: ``PolicyErrors`` if there are too many states.
  package init(_ table: PolicyTable, fixing fixed: [FixedFact] = []) throws(PolicyErrors) {
    let space = try table.space()
    let evaluation = Evaluation(table, in: space)
    var groups: [Decision: [Int]] = [:]
    for state in 0..<space.count where space.isPossible(state) {
      guard let decision = evaluation.decision(at: state) else { continue }
      groups[decision, default: []].append(state)
    }
    let wanted = fixed.map { fact in (fact, axis: space.axes.firstIndex { $0.fact == fact.fact }) }
    var boxes: [(first: Int, decision: Decision, box: Box)] = []
    for (decision, states) in groups {
      for box in BoxCover(in: space).disjointBoxes(covering: states) {
        boxes.append((space.states(in: box).first ?? 0, decision, box))
      }
    }
    name = table.name
    facts = space.axes.map(\.fact)
    rows = boxes.filter { _, _, box in
      wanted.allSatisfy { fact, axis in
        guard let axis else { return true }
        let regions = space.axes[axis].regions
        return box.choices[axis].indices.contains { regions[$0].contains(fact.value) }
      }
    }
    .sorted { ($0.decision.rule, $0.first) < ($1.decision.rule, $1.first) }
    .map {
      Row(facts: space.cells($0.box), decision: $0.decision, stateCount: space.states(in: $0.box).count)
    }
  }

  /// The names of the columns.
  package var header: [String] { facts.map(\.name) + ["show now", "load", "upgrade", "rule", "states"] }

  /// The cells of a row, one for each column; `-` for the upgrade `never`.
  package func cells(_ row: Row) -> [String] {
    let upgrade = row.decision.upgrade == .never ? "-" : row.decision.upgrade.rawValue
    let load = row.decision.load?.rawValue ?? "nothing"
    return row.facts
      + [row.decision.show.rawValue, load, upgrade, String(row.decision.rule), String(row.stateCount)]
  }
}

/// A fact and the one value of interest.
package struct FixedFact: Sendable, Hashable {
  package let fact: Fact
  let value: Region

  /// Reads a fact and a value that a user typed.
  ///
  /// - Parameters:
  ///   - name: See ``Fact/init(typed:among:)``.
  ///   - value: One of the fact's words, a quantity, or `unknown`.
  ///   - catalog: The known facts.
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
      let rest = RegionSet(all: axis.regions.count).subtracting(choice)
      if rest.isEmpty { return "-" }
      if axis.fact.words != nil, rest.count == 1, choice.count > 3 {
        return "not " + axis.labels(rest.indices).joined()
      }
      return axis.labels(choice.indices).joined(separator: ", ")
    }
  }
}

extension DecisionTable {
  /// The rows as an array of objects.
  ///
  /// `when` has the facts with a condition, in the grammar of cells.
  package var json: JSONValue {
    .array(
      rows.map { row in
        let when = zip(facts, row.facts).filter { $1 != "-" }.map { ($0.name, JSONValue.string($1)) }
        let members: [(String, JSONValue)] =
          [("when", .object(JSONObject(when)))] + row.decision.members + [
            ("states", .integer(row.stateCount))
          ]
        return .object(JSONObject(members))
      }
    )
  }
}

/// A table of cases that covers every state of a policy, to compare decisions between versions.
package struct GoldenTable {
  private let table: DecisionTable

  /// - Throws: ``PolicyErrors`` if there are too many states.
  package init(_ table: PolicyTable) throws(PolicyErrors) { self.table = try DecisionTable(table) }

  /// The text of a `NAME.golden.md`, which ``PolicyCases`` reads.
  ///
  /// The same policy always gives the same text. A difference between versions is a different decision or a
  /// different deciding rule.
  package var markdown: String {
    let header =
      table.facts.map(\.name) + ["→ image", "source", "show", "load", "upgrade", "priority", "rule"]
    let rows = table.rows.map { row in
      row.facts
        + [DecisionPart.image, .source, .show, .load, .upgrade, .priority, .rule].map {
          $0.value(in: row.decision)
        }
    }
    return """
      # What \(table.name) decides

      Recorded by `feedimg policy test --record`. Each state is in one row. After an intended change of the
      policy, record again and review the difference.

      \(Self.aligned([header] + rows))
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

/// The decision of a policy in every single state, for programs.
package struct StateListing: Sendable {
  private let evaluation: Evaluation
  private let fixed: [FixedFact]

  /// Lists the states of a policy.
  ///
  /// - Parameters:
  ///   - table: The policy. States without a rule are omitted.
  ///   - fixed: Facts and their values of interest. States without these values are omitted.
  /// - Throws: ``PolicyErrors`` if there are too many states.
  package init(_ table: PolicyTable, fixing fixed: [FixedFact] = []) throws(PolicyErrors) {
    evaluation = Evaluation(table, in: try table.space())
    self.fixed = fixed
  }

  /// Calls `body` with one object per state, in the order of states: the last fact changes fastest.
  package func forEachState(_ body: (JSONValue) -> Void) {
    let space = evaluation.space
    for state in 0..<space.count where space.isPossible(state) && isWanted(state) {
      guard let decision = evaluation.decision(at: state) else { continue }
      let members = [("state", space.witness(at: state).json)] + decision.members
      body(.object(JSONObject(members)))
    }
  }

  /// An array with one object per state.
  package var json: JSONValue {
    var elements: [JSONValue] = []
    forEachState { elements.append($0) }
    return .array(elements)
  }

  private func isWanted(_ state: Int) -> Bool {
    let space = evaluation.space
    guard !fixed.isEmpty else { return true }
    let coordinates = space.coordinates(of: state)
    return space.axes.indices.allSatisfy { index in
      let axis = space.axes[index]
      return fixed.allSatisfy { $0.fact != axis.fact || axis.regions[coordinates[index]].contains($0.value) }
    }
  }
}
