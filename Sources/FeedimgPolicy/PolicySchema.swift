package import FeedimgJSON
import FeedimgModel

/// The JSON Schema of policies in JSON (draft 2020-12), generated from the facts, columns and decision parts.
package enum PolicySchema {
  package static var json: JSONValue {
    [
      "$schema": "https://json-schema.org/draft/2020-12/schema",
      "title": "feedimg policy",
      "description": """
      A policy as JSON. The first rule that applies decides. \
      `feedimg policy export NAME --json` writes it.
      """,
      "type": "object",
      "required": ["rules"],
      "additionalProperties": false,
      "properties": [
        "$schema": ["type": "string"],
        "policy": ["description": "The name, for people.", "type": "string"],
        "description": ["description": "The purpose of the policy, for people.", "type": "string"],
        "facts": hostFacts,
        "rules": rules,
        "promises": promises,
      ],
      "$defs": definitions,
    ]
  }

  private static var hostFacts: JSONValue {
    [
      "description": """
      Facts of the host application. The first value of each is its default.
      """,
      "type": "array",
      "items": object(
        required: ["name", "values"],
        [
          "name": ["type": "string", "pattern": "^[^A-Z]+$"],
          "values": [
            "type": "array", "items": ["type": "string"], "minItems": .integer(2), "uniqueItems": true,
          ],
        ]
      ),
    ]
  }

  private static var rules: JSONValue {
    [
      "type": "array",
      "minItems": .integer(1),
      "maxItems": .integer(MarkdownTable.maximumRowCount),
      "items": object(
        required: OutcomeColumn.required,
        object([("when", reference("when"))] + OutcomeColumn.all.map { ($0.name, member(for: $0)) })
      ),
    ]
  }

  /// The member of a rule for a column.
  private static func member(for column: OutcomeColumn) -> JSONValue {
    var members: [(String, JSONValue)] = [
      ("description", .string(column.description)), ("enum", words(column.words)),
    ]
    if let word = column.defaultWord { members.append(("default", .string(word))) }
    return object(members)
  }

  private static var promises: JSONValue {
    let parts = DecisionPart.allCases.filter { $0.words != nil }
    return [
      "description": "Conditions that must hold in every state.",
      "type": "array",
      "items": object(
        required: ["expect"],
        [
          "when": reference("when"),
          "expect": [
            "type": "object",
            "additionalProperties": false,
            "properties": object(parts.map { ($0.rawValue, cell("expected-\($0.rawValue)")) }),
          ],
        ]
      ),
    ]
  }

  private static var definitions: JSONValue {
    var members = Fact.standard.map { (definition(of: $0), values(of: $0)) }
    members.append(("word", ["type": "string", "pattern": "^[^-|,].*$"]))
    for part in DecisionPart.allCases {
      if let words = part.words { members.append(("expected-\(part.rawValue)", ["enum": Self.words(words)])) }
    }
    let when: JSONValue = [
      "description": """
      The condition for each fact; an omitted fact may have any value. Facts of the host application have their \
      declared names.
      """,
      "type": "object",
      "properties": object(Fact.standard.map { ($0.name, cell(definition(of: $0))) }),
      "additionalProperties": cell("word"),
    ]
    return object(members + [("when", when)])
  }

  private static func definition(of fact: Fact) -> String {
    fact.name.split(separator: " ").joined(separator: "-")
  }

  /// The values that one cell may list for a fact.
  private static func values(of fact: Fact) -> JSONValue {
    switch fact.domain {
    case .words(let words): return ["enum": Self.words(words)]
    case .quantity(let unit):
      // The reader of tables also accepts `KB`.
      let names = unit.names.flatMap { $0 == "kB" ? [$0, "KB"] : [$0] }
      let units = names.count == 1 ? names[0] : "(" + names.joined(separator: "|") + ")"
      let quantity = #"[0-9]+(\.[0-9]+)? *"# + units
      let comparison = "(<=?|>=?|=) *" + quantity
      let pattern = #"^(unknown|\#(comparison)( and \#(comparison))?|\#(quantity) *\.\. *\#(quantity))$"#
      return ["type": "string", "pattern": .string(pattern)]
    }
  }

  /// The schema of a cell: one value, several, or either under `not`.
  private static func cell(_ definition: String) -> JSONValue {
    let one = reference(definition)
    let several: JSONValue = [
      "type": "array", "items": one, "minItems": .integer(1), "uniqueItems": true,
    ]
    let negation: JSONValue = [
      "type": "object",
      "properties": ["not": ["oneOf": [one, several]]],
      "required": ["not"],
      "additionalProperties": false,
    ]
    return ["oneOf": [one, several, negation]]
  }

  private static func reference(_ definition: String) -> JSONValue {
    ["$ref": .string("#/$defs/\(definition)")]
  }

  private static func words(_ words: [String]) -> JSONValue { .array(words.map(JSONValue.string)) }

  /// The schema of an object without other members.
  private static func object(required names: [String], _ properties: JSONValue) -> JSONValue {
    ["type": "object", "required": words(names), "additionalProperties": false, "properties": properties]
  }

  private static func object(_ members: [(String, JSONValue)]) -> JSONValue { .object(JSONObject(members)) }
}
