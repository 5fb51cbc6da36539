import FeedimgJSON
import FeedimgPolicies
import FeedimgPolicy
import Testing

/// Policies and cases with random damage: the reader returns an error or a valid result and never traps.
struct ParserRobustnessTests {
  /// The inserted pieces: every token with a meaning in these files.
  private static let pieces: [[UInt8]] =
    [
      "|", "\n", "\r\n", "→", "->", "-", "not ", ",", "..", "<", ">=", "=", " and ", "unknown", "\\|",
      "```\n",
      "<!--", "-->", "# Promises\n", "99999999999999999999 TB", "0 B", "8388608 TiB", "1e999 MB", "100 %",
      "size",
      "budget left", "fits", "battery", "rule", "case", "\u{FEFF}", "é", "\t", "{", "}", "[", "]", "\"", ":",
      "\"not\"", "\"when\"", "\"facts\"", "null",
    ].map { Array($0.utf8) } + [[0], [0xFF], [0xC3], [0xE2, 0x86]]

  @Test(arguments: UInt64(1)...8) func `damaged files are refused, or read and checked without a trap`(
    seed: UInt64
  ) throws {
    var random = SplitMix(seed: seed)
    let files = try ShippedPolicies.all.flatMap { file in
      let json = try Shipped.table(file.name).json.text(.indented)
      return [(file.fileName, file.text), ("\(file.name).json", Array(json.utf8))]
    }
    var readable = 0
    for _ in 0..<250 {
      let (fileName, text) = try #require(files.randomElement(using: &random))
      let damaged = Self.damage(text, using: &random)
      _ = try? PolicyCases(fileName: fileName, markdown: damaged)
      guard let table = try? Self.table(fileName, damaged),
        let space = try? table.space(), space.count < 20_000
      else { continue }
      readable += 1
      let report = try PolicyReport(table)
      let policy = try? CompiledPolicy(table)
      #expect((policy == nil) == report.findings.contains { $0.code == .gap })
      guard let policy else { continue }
      for state in [0, space.count / 2, space.count - 1] where space.isPossible(state) {
        let situation = space.situation(at: state)
        #expect(policy.decide(situation) == table.rule(in: situation)?.decision(in: situation))
        #expect(space.state(of: situation) == state)
      }
    }
    #expect(readable > 10)
  }

  private static func table(_ fileName: String, _ text: [UInt8]) throws(PolicyErrors) -> PolicyTable {
    fileName.hasSuffix(".json")
      ? try PolicyTable(name: "x", fileName: fileName, json: text)
      : try PolicyTable(name: "x", fileName: fileName, markdown: text)
  }

  private static func damage(_ text: [UInt8], using random: inout SplitMix) -> [UInt8] {
    var text = text
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      let start = Int.random(in: 0...text.count, using: &random)
      let end = min(text.count, start + Int.random(in: 0...6, using: &random))
      switch Int.random(in: 0..<4, using: &random) {
      case 0: text.removeSubrange(start..<end)
      case 1: text.replaceSubrange(start..<end, with: pieces.randomElement(using: &random) ?? [])
      case 2: text.insert(contentsOf: pieces.randomElement(using: &random) ?? [], at: start)
      default: text.insert(contentsOf: text[start..<end], at: Int.random(in: 0...text.count, using: &random))
      }
    }
    return text
  }
}
