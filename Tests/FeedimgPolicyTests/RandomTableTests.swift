import FeedimgModel
import FeedimgPolicy
import Testing

/// Random tables, compared in every state with an independent evaluator.
struct RandomTableTests {
  /// One test case per seed, so that they run in parallel and a failure names its seed.
  private static let seeds = Array(UInt64(1)...20)
  private static let tablesPerSeed = 500

  @Test(arguments: seeds) func `every state of every table is decided by its rows`(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    for number in 0..<Self.tablesPerSeed {
      let expected = RandomTable.random(using: &random)
      let table = try PolicyTable(name: "x", fileName: "x.md", markdown: Array(expected.markdown.utf8))
      let space = try table.space()
      let states = (0..<space.count).filter(space.isPossible)
      let situations = states.map(space.situation)
      let decisions = situations.map { expected.decision(in: $0) }
      guard let policy = try? CompiledPolicy(table) else {
        #expect(decisions.contains(nil), "\(expected.markdown)")
        continue
      }
      for (situation, decision) in zip(situations, decisions) where policy.decide(situation) != decision {
        Issue.record("seed \(seed), table \(number), \(situation)\n\(expected.markdown)")
      }
    }
  }

  @Test(arguments: seeds) func `the check finds the rows whose removal changes nothing`(seed: UInt64) throws {
    var random = SplitMix(seed: seed &+ 1000)
    for _ in 0..<Self.tablesPerSeed / 20 {
      let expected = RandomTable.random(using: &random)
      let table = try PolicyTable(name: "x", fileName: "x.md", markdown: Array(expected.markdown.utf8))
      let space = try table.space()
      let situations = (0..<space.count).filter(space.isPossible).map(space.situation)
      let report = try PolicyReport(table)
      let rules = situations.map { expected.rule(in: $0) }
      let context = Comment(rawValue: expected.markdown)

      let gapCount = report.findings.filter { $0.code == .gap }.reduce(0) { $0 + $1.stateCount }
      #expect(gapCount == rules.count { $0 == nil }, context)
      #expect(report.stateCount == situations.count, context)

      let unreached = (1...expected.rows.count).filter { !rules.contains($0) }
      let told = report.findings.filter { [.neverReached, .neverMatches].contains($0.code) }
      #expect(told.compactMap(\.rule) == unreached, context)
      for finding in told {
        let number = try #require(finding.rule)
        let matched = situations.indices.filter { index in
          let alone = RandomTable(columns: expected.columns, rows: [expected.rows[number - 1]])
          return alone.rule(in: situations[index]) != nil
        }
        #expect((finding.code == .neverMatches) == matched.isEmpty, context)
        #expect(finding.coveringRules == Set(matched.compactMap { rules[$0] }).sorted(), context)
      }

      let redundant = (1...expected.rows.count).filter { number in
        guard rules.contains(number) else { return false }
        return situations.indices.allSatisfy { index in
          guard rules[index] == number else { return true }
          var other = expected.decision(in: situations[index], without: number)
          other?.rule = number
          return other == expected.decision(in: situations[index])
        }
      }
      #expect(report.findings.filter { $0.code == .changesNothing }.compactMap(\.rule) == redundant, context)

      let hiding = Set(
        situations.filter { $0.original == .cached }.compactMap { expected.decision(in: $0) }
          .filter { $0.image != .original }.map(\.rule)
      )
      #expect(
        report.findings.filter { $0.code == .hidesCachedOriginal }.compactMap(\.rule) == hiding.sorted(),
        context
      )
    }
  }
}
