import FeedimgModel
import FeedimgPolicies
import FeedimgPolicy
import Testing

/// Deliberate mistakes in the shipped tables.
///
/// A test must detect each, unless it changes no decision.
struct MutationTests {
  /// One mistake.
  private struct Mutant {
    var name: String
    /// The file with the mistake.
    var text: String
  }

  @Test(arguments: ShippedPolicies.all.map(\.name))
  func `a check, promise or case detects every mutation that changes a decision`(name: String) throws {
    let original = try Shipped.table(name)
    let cases = try Shipped.cases(name)
    let file = try #require(ShippedPolicies.all.first { $0.name == name })
    var equivalent: [String] = []
    for mutant in Self.mutants(of: String(decoding: file.text, as: UTF8.self))
    where try !Self.isNoticed(mutant.text, cases) {
      let table = try PolicyTable(name: name, fileName: "\(name).md", markdown: Array(mutant.text.utf8))
      #expect(try Self.isEquivalent(table, original), "\(mutant.name) goes unnoticed")
      equivalent.append(mutant.name)
    }
    #expect(equivalent.joined(separator: "\n") == EquivalentMutants.listed[name])
  }

  private static func isNoticed(_ text: String, _ cases: PolicyCases) throws -> Bool {
    guard let table = try? PolicyTable(name: "x", fileName: "x.md", markdown: Array(text.utf8)) else {
      return true
    }
    // Run the cases first: they detect most mistakes and are faster.
    return try !CaseReport(cases, of: table).failures.isEmpty || !PolicyReport(table).findings.isEmpty
  }

  /// Whether two tables make the same decisions, ignoring rule numbers.
  private static func isEquivalent(_ one: PolicyTable, _ other: PolicyTable) throws -> Bool {
    let policies = (try CompiledPolicy(one), try CompiledPolicy(other))
    let spaces = [try one.space(), try other.space()]
    for space in spaces {
      for state in 0..<space.count {
        let situation = space.situation(at: state)
        var decision = policies.0.decide(situation)
        decision.rule = policies.1.decide(situation).rule
        if decision != policies.1.decide(situation) { return false }
      }
    }
    return true
  }

  // MARK: Mutations

  private static func mutants(of text: String) -> [Mutant] {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    guard let header = lines.firstIndex(where: { $0.hasPrefix("|") }) else { return [] }
    let rows = lines[(header + 2)...].prefix { $0.hasPrefix("|") }.indices
    let names = cells(lines[header])
    let columns = names.compactMap { try? Fact(typed: $0) }
    func mutant(_ name: String, _ change: (inout [String]) -> Void) -> Mutant {
      var changed = lines
      change(&changed)
      return Mutant(name: name, text: changed.joined(separator: "\n"))
    }
    var mutants: [Mutant] = []
    for (number, row) in zip(1..., rows) {
      mutants.append(mutant("drop rule \(number)") { $0.remove(at: row) })
      for (other, otherRow) in zip(1..., rows) where other > number {
        mutants.append(mutant("swap rules \(number) and \(other)") { $0.swapAt(row, otherRow) })
      }
      for (place, cell) in cells(lines[row]).enumerated() {
        let choices = place < columns.count ? conditions(cell, columns[place]) : outcomes(cell, names[place])
        for choice in choices where choice != cell {
          mutants.append(
            mutant("rule \(number), \(names[place]): \(cell) becomes \(choice)") { lines in
              var changed = cells(lines[row])
              changed[place] = choice
              lines[row] = "| " + changed.joined(separator: " | ") + " |"
            }
          )
        }
      }
    }
    return mutants
  }

  private static func cells(_ line: String) -> [String] {
    line.split(separator: "|").map { $0.split(separator: " ").joined(separator: " ") }.filter { !$0.isEmpty }
  }

  /// Any value, each single value, one value more, one less; for comparisons, the neighbouring ones.
  private static func conditions(_ cell: String, _ fact: Fact) -> [String] {
    guard let words = fact.words else {
      guard cell != "-" else { return ["unknown", fact == .size ? "<= 300 kB" : "< 20 MB"] }
      let bound = cell.drop { "<>= ".contains($0) }
      return ["-", "unknown"] + ["<", "<=", ">", ">="].map { "\($0) \(bound)" }
    }
    let listed = cell.split(separator: ",").map { $0.split(separator: " ").joined() }
    var choices = ["-"] + words + words.map { "not \($0)" }
    if cell != "-" {
      for word in words {
        let changed = listed.contains(word) ? listed.filter { $0 != word } : listed + [word]
        if !changed.isEmpty, changed.count < words.count { choices.append(changed.joined(separator: ", ")) }
      }
    }
    return choices
  }

  private static func outcomes(_ cell: String, _ column: String) -> [String] {
    column == "upgrade" ? Upgrade.allCases.map(\.rawValue) : Ceiling.allCases.map(\.rawValue)
  }
}
