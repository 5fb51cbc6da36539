import FeedimgJSON
import FeedimgModel
import FeedimgPolicies
import FeedimgPolicy
import Testing

/// Policies as JSON: written, read back, and described by the schema.
struct MachineFormTests {
  @Test(arguments: ShippedPolicies.all.map(\.name))
  func `a policy that is written and read back decides the same`(name: String) throws {
    let table = try Shipped.table(name)
    let text = table.json.text(.indented)
    let copy = try PolicyTable(name: name, fileName: "\(name).json", json: Array(text.utf8))
    #expect(copy.json == table.json)
    #expect(copy.rules.map(\.outcome) == table.rules.map(\.outcome))
    #expect(copy.rules.map { $0.conditions.map(\.text) } == table.rules.map { $0.conditions.map(\.text) })
    #expect(copy.promises.count == table.promises.count)
    #expect(try PolicyDiff(from: table, to: copy).differingCount == 0)
    #expect(try PolicyReport(copy).summary == PolicyReport(table).summary)
    #expect(try CompiledPolicy(copy).place(ofRule: 2) == "\(name).json rule 2")
  }

  @Test func `the JSON form follows the schema`() throws {
    let rules = try #require(
      Shipped.table("data-saver").json.text(.compact).split(separator: "\"promises\"").first
    )
    #expect(
      rules == #"""
        {"policy":"data-saver","rules":[\#
        {"when":{"original":"cached"},"image":"original","upgrade":"never"},\#
        {"when":{"network":"offline"},"image":"cached","upgrade":"unmetered"},\#
        {"when":{"data saver":"on"},"image":"cached","upgrade":"on tap"},\#
        {"when":{"metered":["yes","unknown"]},"image":"thumbnail","upgrade":"unmetered"},\#
        {"when":{"metered":"no"},"image":"original","upgrade":"never"}],
        """#
    )
    #expect(
      try Shipped.table("wifi-only").json.text(.compact).hasSuffix(
        #""promises":[{"when":{"network":{"not":["wifi","ethernet"]}},"expect":{"load":"nothing"}}]}"#
      )
    )
  }

  @Test func `the JSON form has a rule's priority only if the rule sets one`() throws {
    let text =
      "| network | → image | → priority |\n|---|---|---|\n| wifi | original | now |\n| - | cached | - |\n"
    let table = try PolicyTable(name: "x", fileName: "x.md", markdown: Array(text.utf8))
    let json = table.json.text(.compact)
    #expect(
      json == #"""
        {"policy":"x","rules":[\#
        {"when":{"network":"wifi"},"image":"original","upgrade":"never","priority":"now"},\#
        {"when":{},"image":"cached","upgrade":"never"}]}
        """#
    )
    let copy = try PolicyTable(name: "x", fileName: "x.json", json: Array(json.utf8))
    #expect(copy.rules.map(\.outcome.priority) == [.now, nil])
  }

  @Test func `the schema knows every fact and every word`() throws {
    let schema = PolicySchema.json
    let definitions = try #require(schema["$defs"])
    let named = try #require(definitions["when"]?["properties"])
    for fact in Fact.standard {
      #expect(named[fact.name] != nil, "\(fact.name)")
      let definition = definitions[fact.name.split(separator: " ").joined(separator: "-")]
      if let words = fact.words {
        #expect(definition?["enum"] == .array(words.map(JSONValue.string)), "\(fact.name)")
      } else {
        #expect(definition?["pattern"] != nil, "\(fact.name)")
      }
    }
    for part in DecisionPart.allCases where part != .rule {
      let words = try #require(part.words)
      #expect(definitions["expected-\(part.rawValue)"]?["enum"] == .array(words.map(JSONValue.string)))
    }
    let rule = schema["properties"]?["rules"]?["items"]?["properties"]
    #expect(rule?["image"]?["enum"] == .array(Ceiling.allCases.map { .string($0.rawValue) }))
    #expect(rule?["upgrade"]?["enum"] == .array(Upgrade.allCases.map { .string($0.rawValue) }))
    #expect(rule?["priority"]?["enum"] == .array(Urgency.allCases.map { .string($0.rawValue) }))
    #expect(rule?["upgrade"]?["default"] == "never")
    #expect(rule?["priority"]?["default"] == nil)
  }

  /// Every word of every column that a policy may omit, from the schema.
  private static var words: [(column: String, word: String)] {
    let rule = PolicySchema.json["properties"]?["rules"]?["items"]?["properties"]
    guard case .object(let members)? = rule else { return [] }
    return members.members.filter { $0.name != "image" }.flatMap { member in
      guard case .array(let words)? = member.value["enum"] else { return [(column: String, word: String)]() }
      return words.compactMap(\.text).map { (member.name, $0) }
    }
  }

  @Test(arguments: words)
  func `a word of a column is read, written, decided and recorded`(column: String, word: String) throws {
    let table = try Self.table(
      """
      | → image  | \(column) |
      |----------|-----------|
      | original | \(word)   |

      ## Promises

      | → \(column) |
      |-------------|
      | \(word)     |
      """
    )
    let copy = try PolicyTable(name: "x", fileName: "x.json", json: Array(table.json.text(.compact).utf8))
    #expect(copy.rules.map(\.outcome) == table.rules.map(\.outcome))
    #expect(copy.json == table.json)
    #expect(try PolicyReport(table).errors.map(\.description) == [], "the decision has the word")
    #expect(try DecisionTable(table).golden.contains("| \(column) "))
    let situation = Situation(network: .wifi, original: .remote, thumbnail: .remote)
    let decision = Explanation(try CompiledPolicy(table), in: situation).json["decision"]
    #expect(decision?[column] == (column == "priority" ? nil : .string(word)))
  }

  @Test(arguments: Set(words.map(\.column)).sorted())
  func `the cell - means the same as an absent column`(column: String) throws {
    let absent = try Self.table("| → image |\n|---|\n| original |\n")
    let empty = try Self.table("| → image | \(column) |\n|---|---|\n| original | - |\n")
    #expect(empty.rules.map(\.outcome) == absent.rules.map(\.outcome))
  }

  private static func table(_ markdown: String) throws -> PolicyTable {
    try PolicyTable(name: "x", fileName: "x.md", markdown: Array(markdown.utf8))
  }

  @Test func `facts of the host application are declared in the JSON form`() throws {
    let text = """
      {"policy": "x", "facts": [{"name": "on screen", "values": ["no", "yes"]}],
       "rules": [{"when": {"on screen": "yes", "network": {"not": "offline"}}, "image": "original"},
                 {"when": {"size": ["< 1 MB", "unknown"]}, "image": "thumbnail", "priority": "idle"},
                 {"image": "cached"}]}
      """
    let table = try PolicyTable(name: "x", fileName: "x.json", json: Array(text.utf8))
    let policy = try CompiledPolicy(table)
    var situation = Situation(network: .wifi, original: .remote, thumbnail: .remote)
    #expect(policy.decide(situation).rule == 2)
    #expect(policy.decide(situation).urgency == .idle)
    situation.hostFacts["on screen"] = "yes"
    #expect(policy.decide(situation).rule == 1)
    situation.hostFacts["on screen"] = "maybe"
    situation.size = .mebibytes(2)
    #expect(policy.decide(situation).rule == 3)
    #expect(table.json["facts"] == [["name": "on screen", "values": ["no", "yes"]]])
  }

  @Test(arguments: [
    ("", "x.json:1:1: expected a JSON value"),
    ("{\n\"rules\": [", "x.json:2:11: expected a JSON value, but the text ends here"),
    ("[]", "x.json: expected an object, found an array"),
    ("{}", "x.json: missing member `rules`"),
    (#"{"rules": []}"#, "x.json: `rules`: there are no rules"),
    (#"{"rules": [{}]}"#, "x.json: `rules[0]`: missing member `image`"),
    (
      #"{"rulez": [], "rules": [{"image": "cached"}]}"#,
      "x.json: unknown member `rulez`; did you mean `rules`?"
    ),
    (
      #"{"rules": [{"image": "cached", "when": {"netwrok": "wifi"}}]}"#,
      "x.json: `rules[0].when`: unknown fact `netwrok`; did you mean `network`?"
    ),
    (
      #"{"rules": [{"image": "cached", "when": {"network": ["wifi", "celular"]}}]}"#,
      "x.json: `rules[0].when.network`: network has no value `celular`; did you mean `cellular`?"
    ),
    (
      #"{"rules": [{"image": "cached", "when": {"network": 1, "metered": {"not": {}}}}]}"#,
      "x.json: `rules[0].when.network`: expected a string, an array or an object with `not`, found a number\n"
        + "x.json: `rules[0].when.metered.not`: expected a string or an array, found an object"
    ),
    (
      #"{"rules": [{"image": "best", "upgrade": 3, "image": "cached"}]}"#,
      "x.json: `rules[0].image`: appears twice\nx.json: `rules[0].upgrade`: expected a string, found a number"
    ),
    (
      #"{"rules": [{"image": "cached"}], "promises": [{"expect": {"load": "all"}}]}"#,
      "x.json: `promises[0].expect.load`: load has no value `all`, expected original, thumbnail, nothing"
    ),
    (
      #"{"facts": [{"name": "network", "values": ["a", "b"]}], "rules": [{"image": "cached"}]}"#,
      "x.json: `facts`: fact `network` already exists"
    ),
  ])
  func `problems are reported with their field`(text: String, problems: String) {
    let error = #expect(throws: PolicyErrors.self) {
      try PolicyTable(name: "x", fileName: "x.json", json: Array(text.utf8))
    }
    #expect(error?.description == problems)
  }

  @Test func `the table of all states has one object per state, the last fact fastest`() throws {
    let rows = try DecisionTable(Shipped.table("default"), everyState: true).rows
    let elements = try DecisionTable(Shipped.table("default"), everyState: true).json
    #expect(elements.count == 90)
    #expect(
      elements[3].text(.compact)
        == #"""
        {"state":{"network":"wifi","always original":"no","original":"remote","thumbnail":"cached"},\#
        "rule":2,"image":"original","source":"network","show":"thumbnail","load":"original",\#
        "upgrade":"never"\#(rows[3].decision.laterColumns)}
        """#
    )
    let fixed = [try FixedFact("network", "cellular"), try FixedFact("original", "remote")]
    let table = try DecisionTable(Shipped.table("budgeted"), fixing: fixed, everyState: true)
    #expect(table.json.allSatisfy { $0["state"]?["network"] == "cellular" })
    #expect(table.rows.count == 3240 / 15)
  }

  @Test func `quantities appear as their regions`() throws {
    var found: [String] = []
    for state in try DecisionTable(Shipped.table("budgeted"), everyState: true).json {
      guard let text = state["state"]?["budget left"]?.text, !found.contains(text) else { continue }
      found.append(text)
    }
    #expect(
      found == ["< 20 MB", "= 20 MB", "> 20 MB and < 500 MB", "= 500 MB", "> 500 MB", "unknown"]
    )
  }
}

extension DecisionTable {
  fileprivate var json: [JSONValue] { rows.map(json) }
}

extension JSONValue {
  /// A member of an object; nil for anything else.
  subscript(name: String) -> JSONValue? {
    if case .object(let object) = self { object[name] } else { nil }
  }
}
