public import Feedimg
import FeedimgJSON
import FeedimgPolicy

extension Policies {
  /// The decisions of a policy, for every state or in rows of states with the same rule and decision.
  public struct Listing: Sendable {
    /// The name of the policy.
    public let policy: String
    /// Warnings for the user, such as about states without a rule, which no row shows.
    public let warnings: [String]
    /// Whether some states have no rule.
    public let hasGap: Bool
    private let table: DecisionTable

    init(_ named: NamedPolicy, fixing fixed: [FixedFact], everyState: Bool) throws(PolicyErrors) {
      policy = named.table.name
      table = try DecisionTable(named.table, fixing: fixed, everyState: everyState)
      let gaps = try PolicyReport(named.table).errors.filter { $0.code == .gap }
      hasGap = !gaps.isEmpty
      warnings = named.warnings + gaps.map(\.problem.description)
    }

    /// The names of the columns, then the rows; cells follow the grammar of policies.
    public var cells: [[String]] { [table.header] + table.rows.map(table.cells) }

    /// The decisions as a JSON array, with one object per line.
    public var json: String {
      let lines = table.rows.map { table.json($0).text(.compact) }
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
  /// - Throws: ``PolicyFileError`` if the policy or a fact is invalid.
  public func table(
    _ argument: String,
    fixing facts: [SituationOverride] = [],
    everyState: Bool = false
  ) throws(PolicyFileError) -> Listing {
    let named = try named(argument)
    let catalog = try catalog(of: named.table)
    let fixed = try facts.map { fact throws(PolicyFileError) in
      do throws(FactError) {
        return try FixedFact(fact.fact, fact.value, among: catalog)
      } catch {
        throw PolicyFileError([error.description], isUnreadable: true)
      }
    }
    return try convertingErrors { () throws(PolicyErrors) in
      try Listing(named, fixing: fixed, everyState: everyState)
    }
  }

  /// The known facts, including those that the policy's JSON declares.
  func catalog(of table: PolicyTable) throws(PolicyFileError) -> FactCatalog {
    do throws(FactError) {
      return try FactCatalog(hosting: table.hostFacts)
    } catch {
      throw PolicyFileError([error.description])
    }
  }
}
