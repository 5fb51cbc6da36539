package import FeedimgJSON
import FeedimgModel

extension DecisionTable {
  /// The rows as an array of objects; `when` has the facts that matter, in the grammar of cells.
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
