public import Feedimg
import FeedimgJSON
import FeedimgPolicy

extension Policies {
  /// What a policy decides: every state, or rows of states in which one rule decides the same.
  public struct Listing: Sendable {
    private enum Content: Sendable {
      case rows(DecisionTable)
      case states(StateListing)
    }

    /// The name of the policy.
    public let policy: String
    /// What the user should know, such as that there are states without a rule, which no row shows.
    public let warnings: [String]
    /// Whether there are states without a rule.
    public let hasGap: Bool
    private let content: Content

    init(_ asked: AskedPolicy, fixing fixed: [FixedFact], everyState: Bool) throws(PolicyErrors) {
      policy = asked.table.name
      content =
        everyState
        ? .states(try StateListing(asked.table, fixing: fixed))
        : .rows(try DecisionTable(asked.table, fixing: fixed))
      let gaps = try PolicyReport(asked.table).errors.filter { $0.code == .gap }
      hasGap = !gaps.isEmpty
      warnings = asked.warnings + gaps.map(\.problem.description)
    }

    /// The columns, and then the rows; cells are as in the grammar of policies.
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

    /// The same as a JSON array, one object a line.
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

  /// What a policy decides.
  ///
  /// - Parameters:
  ///   - argument: A name or a file.
  ///   - facts: Facts of which only these values are of interest.
  ///   - everyState: Whether to list states one by one, in a fixed order, rather than in few rows.
  /// - Returns: The decisions; states without a rule are left out, and told of.
  /// - Throws: ``PolicyFault`` for a policy or a fact that was not understood.
  public func table(
    _ argument: String,
    fixing facts: [SituationOverride] = [],
    everyState: Bool = false
  ) throws(PolicyFault) -> Listing {
    let asked = try asked(argument)
    let catalog = try catalog(of: asked.table)
    let fixed = try facts.map { fact throws(PolicyFault) in
      do throws(FactError) {
        return try FixedFact(fact.fact, fact.value, among: catalog)
      } catch {
        throw PolicyFault([error.description], isUnreadable: true)
      }
    }
    do throws(PolicyErrors) {
      return try Listing(asked, fixing: fixed, everyState: everyState)
    } catch {
      throw PolicyFault(error.errors.map(\.description))
    }
  }

  /// The facts that a question about a policy may name: also those that its machine form declares.
  func catalog(of table: PolicyTable) throws(PolicyFault) -> FactCatalog {
    do throws(FactError) {
      return try FactCatalog(hosting: table.hostFacts)
    } catch {
      throw PolicyFault([error.description])
    }
  }
}
