public import Feedimg
import FeedimgJSON
import FeedimgPolicy

extension Policies {
  /// The decisions of a policy, for every state or in rows of states with the same rule and decision.
  public struct Listing: Sendable {
    private enum Content: Sendable {
      case rows(DecisionTable)
      case states(StateListing)
    }

    /// The name of the policy.
    public let policy: String
    /// Warnings for the user, such as about states without a rule, which no row shows.
    public let warnings: [String]
    /// Whether some states have no rule.
    public let hasGap: Bool
    private let content: Content

    init(_ named: NamedPolicy, fixing fixed: [FixedFact], everyState: Bool) throws(PolicyErrors) {
      policy = named.table.name
      content =
        everyState
        ? .states(try StateListing(named.table, fixing: fixed))
        : .rows(try DecisionTable(named.table, fixing: fixed))
      let gaps = try PolicyReport(named.table).errors.filter { $0.code == .gap }
      hasGap = !gaps.isEmpty
      warnings = named.warnings + gaps.map(\.problem.description)
    }

    /// The names of the columns, then the rows; cells follow the grammar of policies.
    public var cells: [[String]] {
      switch content {
      case .rows(let table):
        return [table.header] + table.rows.map(table.cells)
      case .states(let states):
        var cells: [[String]] = []
        states.forEachState { state in
          guard case .object(let state) = state, case .object(let facts)? = state["state"] else { return }
          if cells.isEmpty {
            cells.append(facts.members.map(\.name) + ["show now", "load", "upgrade", "rule"])
          }
          let upgrade = state["upgrade"]?.text ?? "-"
          cells.append(
            facts.members.map { $0.value.text ?? "" } + [
              state["show"]?.text ?? "", state["load"]?.text ?? "", upgrade == "never" ? "-" : upgrade,
              state["rule"]?.integer.map(String.init) ?? "",
            ]
          )
        }
        return cells
      }
    }

    /// The decisions as a JSON array, with one object per line.
    public var json: String {
      var lines: [String] = []
      switch content {
      case .rows(let table):
        if case .array(let rows) = table.json { lines = rows.map { $0.text(.compact) } }
      case .states(let states):
        states.forEachState { lines.append($0.text(.compact)) }
      }
      return lines.isEmpty ? "[]" : "[\n" + lines.joined(separator: ",\n") + "\n]"
    }
  }

  /// Lists the decisions of a policy.
  ///
  /// - Parameters:
  ///   - argument: A name or a file.
  ///   - facts: Values of facts; only states with these values are listed.
  ///   - everyState: Whether to list every state, in a fixed order, instead of a few rows.
  /// - Returns: The decisions, without states that have no rule; warnings name these.
  /// - Throws: ``PolicyFault`` if the policy or a fact is invalid.
  public func table(
    _ argument: String,
    fixing facts: [SituationOverride] = [],
    everyState: Bool = false
  ) throws(PolicyFault) -> Listing {
    let named = try named(argument)
    let catalog = try catalog(of: named.table)
    let fixed = try facts.map { fact throws(PolicyFault) in
      do throws(FactError) {
        return try FixedFact(fact.fact, fact.value, among: catalog)
      } catch {
        throw PolicyFault([error.description], isUnreadable: true)
      }
    }
    return try naming { () throws(PolicyErrors) in
      try Listing(named, fixing: fixed, everyState: everyState)
    }
  }

  /// The known facts, including those that the policy's JSON declares.
  func catalog(of table: PolicyTable) throws(PolicyFault) -> FactCatalog {
    do throws(FactError) {
      return try FactCatalog(hosting: table.hostFacts)
    } catch {
      throw PolicyFault([error.description])
    }
  }
}
