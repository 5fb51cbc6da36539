package import FeedimgJSON
import FeedimgModel

/// The JSON Schema of policies in their machine form (draft 2020-12), made of the facts and the parts of a decision.
package enum PolicySchema {
  package static var json: JSONValue {
    [
      "$schema": "https://json-schema.org/draft/2020-12/schema",
      "title": "feedimg policy",
      "description": """
      The machine form of a decision table: rules of which the first that applies decides. \
      `feedimg policy export NAME --json` writes it.
      """,
      "type": "object",
      "required": ["rules"],
      "additionalProperties": false,
      "properties": [
        "$schema": ["type": "string"],
        "policy": ["description": "The name, for people.", "type": "string"],
        "description": ["description": "What the policy is for, for people.", "type": "string"],
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
      Facts of the host application; the first value of each holds until the application says another.
      """,
      "type": "array",
      "items": [
        "type": "object",
        "required": ["name", "values"],
        "additionalProperties": false,
        "properties": [
          "name": ["type": "string", "pattern": "^[^A-Z]+$"],
          "values": [
            "type": "array", "items": ["type": "string"], "minItems": .integer(2), "uniqueItems": true,
          ],
        ],
      ],
    ]
  }

  private static var rules: JSONValue {
    [
      "type": "array",
      "minItems": .integer(1),
      "maxItems": .integer(MarkdownTable.greatestRowCount),
      "items": [
        "type": "object",
        "required": ["image"],
        "additionalProperties": false,
        "properties": [
          "when": reference("when"),
          "image": [
            "description": """
            The best image that may be shown; `cached` is whatever is there, and fetches nothing.
            """,
            "enum": words(Ceiling.allCases.map(\.rawValue)),
          ],
          "upgrade": [
            "description": "After which change the item is resolved again.",
            "enum": words(Upgrade.allCases.map(\.rawValue)),
            "default": .string(Upgrade.never.rawValue),
          ],
          "priority": [
            "description": """
            How soon a load is wanted. Left out it is now, and nothing is fetched ahead where data costs.
            """,
            "enum": words(Urgency.allCases.map(\.rawValue)),
          ],
        ],
      ],
    ]
  }

  private static var promises: JSONValue {
    let parts = DecisionPart.allCases.filter { $0.words != nil }
    return [
      "description": "What must hold in every state, whichever rule decides.",
      "type": "array",
      "items": [
        "type": "object",
        "required": ["expect"],
        "additionalProperties": false,
        "properties": [
          "when": reference("when"),
          "expect": [
            "type": "object",
            "additionalProperties": false,
            "properties": object(parts.map { ($0.rawValue, cell("expected-\($0.rawValue)")) }),
          ],
        ],
      ],
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
      What must hold, fact by fact; a fact that is left out may be anything. Facts of the host application are \
      named as they are declared.
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

  /// What one cell may say of a fact.
  private static func values(of fact: Fact) -> JSONValue {
    switch fact.domain {
    case .words(let words): return ["enum": Self.words(words)]
    case .quantity(let unit):
      // What reads a table takes `KB` too.
      let names = unit.names.flatMap { $0 == "kB" ? [$0, "KB"] : [$0] }
      let units = names.count == 1 ? names[0] : "(" + names.joined(separator: "|") + ")"
      let quantity = #"[0-9]+(\.[0-9]+)? *"# + units
      let comparison = "(<=?|>=?|=) *" + quantity
      let pattern = #"^(unknown|\#(comparison)( and \#(comparison))?|\#(quantity) *\.\. *\#(quantity))$"#
      return ["type": "string", "pattern": .string(pattern)]
    }
  }

  /// A cell: one value, several, or either under `not`.
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

  private static func object(_ members: [(String, JSONValue)]) -> JSONValue { .object(JSONObject(members)) }
}
