import FeedimgModel
import FeedimgPolicy
import Testing

/// The forms that the grammar allows.
struct FormatTests {
  private static let plain = """
    | network | → image |
    |---------|---------|
    | offline | cached |
    | - | original |

    """

  /// Texts that all mean ``plain``.
  private static let equals: [(name: String, text: String)] = [
    ("as it is", plain),
    ("CRLF", plain.replacing("\n", with: "\r\n")),
    ("CR", plain.replacing("\n", with: "\r")),
    ("a byte order mark", "\u{FEFF}" + plain),
    ("`->` for the arrow", plain.replacing("→", with: "->")),
    ("no space after the arrow", plain.replacing("→ ", with: "→")),
    ("no pipes at the ends", "network | → image\n---|---\noffline | cached\n- | original\n"),
    ("colons in the dashes", plain.replacing("|---------|---------|", with: "|:--|--:|")),
    ("tabs", plain.replacing(" ", with: "\t")),
    ("no line feed at the end", String(plain.dropLast(2))),
    ("a table in a code fence before it", "```md\n| a |\n|---|\n| b |\n```\n\n" + plain),
    ("a fence of tildes with backticks inside", "~~~\n```\n| a | b |\n|--|--|\n~~~\n" + plain),
    ("a fence that only a longer one closes", "````\n```\n| a | b |\n|--|--|\n````\n" + plain),
    ("inline code that looks like a fence", "``` a ``` | b\n\n" + plain),
    ("a table for readers whose header is code", "`fact` | meaning\n--- | ---\na | b\n\n" + plain),
    ("indented code before it", "    | a | b |\n    |--|--|\n\n" + plain),
    ("a comment before it", "<!-- | a | b |\n|--|--|\n| c | d |\n-->\n" + plain),
    ("a quote before it", "> | a | b |\n> |--|--|\n\n" + plain),
    ("a pipe in the prose", "# a | b\n\none | two\n\n" + plain),
    ("another table after it", plain + "\n| a | b |\n|--|--|\n| c | d |\n"),
    ("a heading right after it", plain.dropLast(1) + "\n# end | of |\n"),
  ]

  @Test(arguments: equals.map(\.name)) func `the same table may be written in many ways`(name: String) throws
  {
    let text = try #require(Self.equals.first { $0.name == name }?.text)
    let table = try PolicyTable(name: "x", fileName: "x.md", markdown: Array(text.utf8))
    #expect(table.rules.map(\.outcome.image) == [.cached, .original])
    #expect(table.rules.map { $0.conditions.map(\.text) } == [["offline"], []])
    #expect(table.rules[0].conditions.map(\.fact) == [.network])
    _ = try CompiledPolicy(table)
  }

  @Test func `an escaped pipe is an ordinary character`() {
    #expect(throws: PolicyErrors.self) {
      try PolicyTable(name: "x", fileName: "x.md", markdown: Array("| a\\|b | → image |\n|--|--|\n".utf8))
    }
    let error = #expect(throws: PolicyErrors.self) {
      let text = "| network | → image |\n|--|--|\n| wi\\|fi | original |\n"
      return try PolicyTable(name: "x", fileName: "x.md", markdown: Array(text.utf8))
    }
    #expect(error?.description == "x.md:3:3: network has no value `wi|fi`; did you mean `wifi`?")
  }

  @Test(arguments: [
    ("network", "wifi", ["wifi"]),
    ("network", "wifi, ethernet", ["wifi", "ethernet"]),
    ("network", "not offline", ["wifi", "ethernet", "cellular", "other"]),
    ("network", "not wifi,ethernet", ["cellular", "other", "offline"]),
    ("metered", "unknown", ["unknown"]),
    ("battery", "< 20 %", ["0 %", "19 %"]),
    ("battery", "<= 20%", ["0 %", "19 %", "20 %"]),
    ("battery", "> 20 %", ["21 %", "79 %", "80 %", "81 %", "100 %"]),
    ("battery", ">= 20 %", ["20 %", "21 %", "79 %", "80 %", "81 %", "100 %"]),
    ("battery", "20 %..80 %", ["20 %", "21 %", "79 %"]),
    ("battery", "unknown", ["unknown"]),
    ("battery", "not unknown", ["0 %", "19 %", "20 %", "21 %", "79 %", "80 %", "81 %", "100 %"]),
    ("battery", "< 20 %, >= 80 %, unknown", ["0 %", "19 %", "80 %", "81 %", "100 %", "unknown"]),
  ])
  func `a cell applies to exactly its values`(fact: String, cell: String, holding: [String]) throws {
    let text = "| \(fact) | → image |\n|--|--|\n| \(cell) | original |\n| - | cached |\n"
    let table = try PolicyTable(name: "x", fileName: "x.md", markdown: Array(text.utf8))
    let policy = try CompiledPolicy(table)
    let battery = ["0 %", "19 %", "20 %", "21 %", "79 %", "80 %", "81 %", "100 %", "unknown"]
    let values = try Fact(typed: fact).words ?? battery
    for value in values {
      var situation = Situation(network: .wifi, original: .remote, thumbnail: .none)
      try situation.set(fact: fact, to: value)
      #expect(policy.decide(situation).rule == (holding.contains(value) ? 1 : 2), "\(value)")
    }
  }

  @Test(arguments: [("-", false), ("not no", true)])
  func `a column without conditions makes no fact necessary`(cell: String, needsCost: Bool) throws {
    let text = "| network | metered | → image |\n|--|--|--|\n| - | \(cell) | original |\n| - | - | cached |\n"
    let table = try PolicyTable(name: "x", fileName: "x.md", markdown: Array(text.utf8))
    let policy = try CompiledPolicy(table)
    #expect(policy.needsCost == needsCost)
    #expect(!policy.depends(on: .network))
  }

  @Test func `every table under the heading of promises is read`() throws {
    let text = """
      | → image |
      |--|
      | original |
      # promises
      Some prose.
      ## More
      | network | metered | → load |
      |--|--|--|
      | offline | - | nothing |
      | - | not no | not original, thumbnail |
      ### And
      | → source |
      |--|
      | - |
      # Other
      | network | → nonsense |
      |--|--|
      """
    let promises = try PolicyTable(name: "x", fileName: "x.md", markdown: Array(text.utf8)).promises
    #expect(promises.map(\.number) == [1, 2, 3])
    #expect(promises.map(\.line) == [9, 10, 14])
    #expect(promises.map { $0.expectations.map(\.text) } == [["nothing"], ["not original, thumbnail"], []])
  }
}
