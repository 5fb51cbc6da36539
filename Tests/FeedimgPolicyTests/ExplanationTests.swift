import FeedimgJSON
import FeedimgModel
import FeedimgPolicy
import Testing

/// How a policy made its decision, for people.
struct ExplanationTests {
  @Test func `each rule says why it applies or not`() throws {
    let policy = try CompiledPolicy(Shipped.table("default"))
    let situation = Situation(network: .cellular, original: .remote, thumbnail: .cached)
    #expect(
      Explanation(policy, in: situation).lines == [
        "  ✗ rule 1  original is remote, not cached",
        "  ✗ rule 2  network is cellular, not wifi, ethernet",
        "  ✗ rule 3  always original is no, not yes",
        "  ✓ rule 4  network is cellular; always original is no",
        "→ image: thumbnail (cache)   now: thumbnail   load: nothing   upgrade: -   [default.md:10]",
      ]
    )
  }

  @Test func `quantities are shown exactly`() throws {
    let policy = try CompiledPolicy(Shipped.table("budgeted"))
    var situation = Situation(network: .cellular, original: .remote, thumbnail: .remote)
    try situation.set(fact: "metered", to: "yes")
    try situation.set(fact: "budget-left", to: "1.2 GB")
    let lines = Explanation(policy, in: situation).lines
    #expect(
      lines == [
        "  ✗ rule 1  original is remote, not cached",
        "  ✗ rule 2  network is cellular, not offline",
        "  ✗ rule 3  metered is yes, not no",
        "  ✗ rule 4  budget left is 1.2 GB, not < 20 MB",
        "  ✗ rule 5  size is unknown, not <= 300 kB",
        "  ✓ rule 6  always",
        "→ image: thumbnail (network)   now: placeholder   load: thumbnail   upgrade: unmetered   [budgeted.md:12]",
      ]
    )
  }

  @Test func `a negated cell that fails is explained in words`() throws {
    let text = "| network | → image |\n|--|--|\n| not wifi | cached |\n| - | placeholder |\n"
    let policy = try CompiledPolicy(PolicyTable(name: "x", fileName: "x.md", markdown: Array(text.utf8)))
    let situation = Situation(network: .wifi, original: .remote, thumbnail: .remote)
    #expect(
      Explanation(policy, in: situation).lines == [
        "  ✗ rule 1  network is wifi", "  ✓ rule 2  always",
        "→ image: placeholder   now: placeholder   load: nothing   upgrade: -   [x.md:4]",
      ]
    )
  }

  @Test func `the JSON form has the facts, the steps and the decision`() throws {
    let policy = try CompiledPolicy(Shipped.table("wifi-only"))
    let situation = Situation(network: .wifi, original: .remote, thumbnail: .cached)
    let facts = Fact.standard.map { "\"\($0.name)\":\"\($0.value(in: situation))\"" }.joined(separator: ",")
    #expect(
      Explanation(policy, in: situation).json.text(.compact)
        == #"""
        {"policy":"wifi-only","facts":{\#(facts)},\#
        "steps":[{"rule":1,"place":"wifi-only.md:7","applies":false,\#
        "reason":"original is remote, not cached"},{"rule":2,"place":"wifi-only.md:8",\#
        "applies":true,"reason":"network is wifi"}],"decision":{"rule":2,"image":"original",\#
        "source":"network","show":"thumbnail","load":"original",\#
        "upgrade":"never"\#(policy.decide(situation).laterColumns)},\#
        "place":"wifi-only.md:8"}
        """#
    )
  }
}
