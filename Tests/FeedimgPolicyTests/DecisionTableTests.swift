import FeedimgModel
import FeedimgPolicies
import FeedimgPolicy
import Testing

/// Tables of all decisions, grouped for reading.
struct DecisionTableTests {
  @Test func `the default policy has sixteen rows of decisions`() throws {
    let table = try DecisionTable(Shipped.table("default"))
    #expect(table.rows.count == 16)
    #expect(
      table.header == [
        "network", "always original", "original", "thumbnail", "show now", "load", "upgrade", "rule",
        "states",
      ]
    )
    let rows = table.rows.map { table.cells($0).joined(separator: " | ") }
    for row in [
      "- | - | cached | - | original | nothing | - | 1 | 30",
      "cellular, other | yes | remote | cached | thumbnail | original | - | 3 | 2",
      "cellular, other | yes | remote | remote, none | placeholder | original | - | 3 | 4",
      "cellular, other | yes | none | remote | placeholder | thumbnail | - | 3 | 2",
      "cellular, other | no | remote, none | cached | thumbnail | nothing | - | 4 | 4",
      "cellular, other | no | remote, none | remote | placeholder | thumbnail | - | 4 | 4",
      "cellular, other | no | remote, none | none | placeholder | nothing | - | 4 | 4",
    ] {
      #expect(rows.contains(row))
    }
  }

  @Test func `fixed facts leave the rows that concern them`() throws {
    let fixed = [try FixedFact("network", "cellular"), try FixedFact("always-original", "no")]
    let table = try DecisionTable(Shipped.table("default"), fixing: fixed + [try FixedFact("metered", "yes")])
    #expect(
      table.rows.map { $0.facts.joined(separator: " | ") } == [
        "- | - | cached | -", "cellular, other | no | remote, none | cached",
        "cellular, other | no | remote, none | remote", "cellular, other | no | remote, none | none",
      ]
    )
    let budget = try DecisionTable(Shipped.table("budgeted"), fixing: [FixedFact("budget-left", "19 MB")])
    #expect(budget.rows.allSatisfy { ["-", "< 20 MB"].contains($0.facts[5]) })
    #expect(budget.rows.contains { $0.facts.contains("not offline") })
  }

  @Test(arguments: ShippedPolicies.all.map(\.name))
  func `the rows hold every state once`(name: String) throws {
    let table = try Shipped.table(name)
    let count = try table.space().count
    #expect(try DecisionTable(table).rows.reduce(0) { $0 + $1.stateCount } == count)
  }

  @Test(arguments: ShippedPolicies.all.map(\.name))
  func `a recorded table is a table of cases that covers every state`(name: String) throws {
    let table = try Shipped.table(name)
    let golden = try DecisionTable(table).golden
    let cases = try PolicyCases(fileName: "\(name).golden.md", markdown: Array(golden.utf8))
    let report = try CaseReport(cases, of: table)
    #expect(report.lines == [])
    #expect(report.checkedStateCount == report.stateCount)
    let other = try Shipped.table(name == "default" ? "data-saver" : "default")
    #expect(try !CaseReport(cases, of: other).failures.isEmpty)
  }

  @Test func `every group of regions can be written as a cell`() throws {
    let text = """
      | size | battery | → image |
      |--|--|--|
      | < 1 kB, >= 2 MB | = 20 % | original |
      | 1500 B..1 MB | > 20 % and <= 80 % | thumbnail |
      | - | - | cached |
      """
    let table = try PolicyTable(name: "x", fileName: "x.md", markdown: Array(text.utf8))
    for axis in try table.space().axes where axis.fact.words == nil {
      for chosen in 1..<(1 << axis.regions.count) - 1 {
        let indices = axis.regions.indices.filter { chosen >> $0 & 1 == 1 }
        let cell = axis.labels(indices).joined(separator: ", ")
        let copy = "| \(axis.fact.name) | → image |\n|--|--|\n| \(cell) | original |\n"
        let condition = try PolicyTable(name: "x", fileName: "x.md", markdown: Array(copy.utf8))
          .rules[0].conditions[0]
        let holding = axis.regions.indices.filter { condition.holds(in: axis.regions[$0]) }
        #expect(
          holding == indices || (cell == "not unknown" && indices.count == axis.regions.count - 1),
          "\(cell)"
        )
      }
    }
  }
}
