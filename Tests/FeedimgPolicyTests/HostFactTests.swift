import FeedimgJSON
import FeedimgModel
import FeedimgPolicy
import Testing

/// Facts that the host application defines.
struct HostFactTests {
  private let onScreen = HostFact(name: "on screen", values: ["no", "yes"])
  private let age = HostFact(name: "age", values: ["unknown", "fresh", "old"])

  private static let text = """
    | on screen | network  | age        | → image   | priority |
    |-----------|----------|------------|-----------|----------|
    | yes       | -        | -          | original  | now      |
    | -         | cellular | not fresh  | cached    | idle     |
    | -         | -        | -          | thumbnail | soon     |
    """

  @Test func `policies use host facts like other facts`() throws {
    let catalog = try FactCatalog(hosting: [onScreen, age])
    let table = try PolicyTable(name: "x", fileName: "x.md", markdown: Array(Self.text.utf8), facts: catalog)
    #expect(try PolicyReport(table).headline == "x: 3 rules, 5 facts, 270 states")
    #expect(
      try table.space().axes.map(\.fact.name) == ["network", "original", "thumbnail", "age", "on screen"]
    )
    let policy = try CompiledPolicy(table)
    var situation = Situation(network: .cellular, original: .remote, thumbnail: .remote)
    #expect(policy.decide(situation).rule == 2)
    #expect(policy.why(rule: 2, in: situation) == "network is cellular; age is unknown")
    try situation.set(fact: "age", to: "Fresh", among: catalog)
    #expect(situation.hostFacts == ["age": "fresh"])
    #expect(policy.decide(situation).rule == 3)
    try situation.set(fact: "on-screen", to: "yes", among: catalog)
    #expect(policy.decide(situation).rule == 1)
    #expect(Explanation(policy, in: situation).json["facts"]?["on screen"] == "yes")
  }

  @Test func `a policy that uses an undeclared fact is refused`() {
    let error = #expect(throws: PolicyErrors.self) {
      try PolicyTable(name: "x", fileName: "x.md", markdown: Array(Self.text.utf8))
    }
    #expect(error?.errors.map(\.message) == ["unknown fact `on screen`", "unknown fact `age`"])
  }

  @Test(arguments: [
    (HostFact(name: "network", values: ["a", "b"]), "fact `network` already exists"),
    (HostFact(name: "case", values: ["a", "b"]), "`case` cannot be the name of a fact"),
    (
      HostFact(name: "", values: ["a", "b"]), "`` cannot be the name of a fact, expected words in lower case"
    ),
    (
      HostFact(name: "Age", values: ["a", "b"]),
      "`Age` cannot be the name of a fact, expected words in lower case"
    ),
    (
      HostFact(name: "a|b", values: ["a", "b"]),
      "`a|b` cannot be the name of a fact, expected words in lower case"
    ),
    (HostFact(name: "age", values: ["a"]), "fact `age` needs at least two different values"),
    (HostFact(name: "age", values: ["a", "a"]), "fact `age` needs at least two different values"),
    (
      HostFact(name: "age", values: ["a", "-"]),
      "`-` cannot be the value of `age`, expected words in lower case"
    ),
    (
      HostFact(name: "age", values: ["a", "not b"]),
      "`not b` cannot be the value of `age`, expected words in lower case"
    ),
    (
      HostFact(name: "age", values: ["a", "b, c"]),
      "`b, c` cannot be the value of `age`, expected words in lower case"
    ),
  ])
  func `a declaration with a name that tables cannot contain is refused`(fact: HostFact, message: String) {
    let error = #expect(throws: FactError.self) { try FactCatalog(hosting: [fact]) }
    #expect(error?.description == message)
  }

  @Test func `a fact cannot be declared twice`() {
    let error = #expect(throws: FactError.self) { try FactCatalog(hosting: [age, age]) }
    #expect(error?.description == "fact `age` already exists")
  }
}
