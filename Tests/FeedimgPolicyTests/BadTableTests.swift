import FeedimgPolicy
import Testing

/// Invalid policy files: each gives a clear error and never a trap.
struct BadTableTests {
  /// One file and its errors.
  struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    var text: String
    /// All errors, in order.
    var errors: [String]

    var testDescription: String { name }
  }

  static let rows: [Row] = [
    Row(name: "an empty file", text: "", errors: ["x.md: the file is empty"]),
    Row(
      name: "prose alone",
      text: "# x\n\nNo table here.\n",
      errors: ["x.md: no table, expected a Markdown table with a column `→ image`"]
    ),
    Row(
      name: "a table in a code fence alone",
      text: "```\n| → image |\n|---|\n| original |\n```\n",
      errors: ["x.md: no table, expected a Markdown table with a column `→ image`"]
    ),
    Row(
      name: "promises alone",
      text: "## Promises\n| network | → load |\n|--|--|\n| offline | nothing |\n",
      errors: ["x.md:2: no table before `## Promises`, expected one with a column `→ image`"]
    ),
    Row(
      name: "a header alone",
      text: "| network | → image |\n|--|--|\n",
      errors: ["x.md:1: the table has no rules"]
    ),
    Row(
      name: "no arrow",
      text: "| network |\n|--|\n| wifi |\n",
      errors: [
        "x.md:1: no column begins with `→`, expected one such as `→ image`",
        "x.md:1: no column `→ image`, every policy needs one",
      ]
    ),
    Row(
      name: "ragged rows",
      text: "| network | → image |\n|--|--|\n| wifi |\n| - | a | b |\n| - | original |\n",
      errors: [
        "x.md:3: the row has 1 cell, the header has 2", "x.md:4: the row has 3 cells, the header has 2",
      ]
    ),
    Row(
      name: "a ragged row of dashes",
      text: "| network | → image |\n|--|\n| - | original |\n",
      errors: ["x.md:2: the row of dashes has 1 cell, the header has 2"]
    ),
    Row(
      name: "an unknown fact",
      text: "| netwrok | → image |\n|--|--|\n| - | original |\n",
      errors: ["x.md:1:3: unknown fact `netwrok`; did you mean `network`?"]
    ),
    Row(
      name: "an unknown fact like no other",
      text: "| weather | → image |\n|--|--|\n| - | original |\n",
      errors: ["x.md:1:3: unknown fact `weather`"]
    ),
    Row(
      name: "an unknown value",
      text: "| network | → image |\n|--|--|\n| celular | original |\n| - | original |\n",
      errors: ["x.md:3:3: network has no value `celular`; did you mean `cellular`?"]
    ),
    Row(
      name: "an unknown outcome",
      text: "| → image | upgarde |\n|--|--|\n| originl | never |\n",
      errors: [
        "x.md:1:13: unknown outcome `upgarde`; did you mean `upgrade`?",
        "x.md:3:3: image has no value `originl`; did you mean `original`?",
      ]
    ),
    Row(
      name: "a fact named twice",
      text: "| network | metered | network | → image |\n|--|--|--|--|\n| - | - | - | original |\n",
      errors: ["x.md:1:23: column `network` appears twice"]
    ),
    Row(
      name: "impossible intervals",
      text: """
        | size | battery | → image |
        |--|--|--|
        | 9 MB..3 MB | - | original |
        | 500 MB..0.5 GB | < 0 % | original |
        | - | > 100 % | original |
        | - | <= 120 % | original |
        """,
      errors: [
        "x.md:3:3: impossible interval `9 MB..3 MB`, no size is in it",
        "x.md:4:3: impossible interval `500 MB..0.5 GB`, no size is in it",
        "x.md:4:20: impossible interval `< 0 %`, no battery is in it",
        "x.md:5:7: impossible interval `> 100 %`, no battery is in it",
        "x.md:6:7: `120 %` is too large, battery is at most 100 %",
      ]
    ),
    Row(
      name: "more than two comparisons",
      text: "| size | → image |\n|--|--|\n| > 1 MB and < 9 MB and < 5 MB | original |\n| - | thumbnail |\n",
      errors: ["x.md:3:3: expected two comparisons joined by `and`, found more"]
    ),
    Row(
      name: "invalid quantities",
      text: """
        | size | bandwidth | → image |
        |--|--|--|
        | < 20 | - | original |
        | < 20 Mb | < 5 Mbits/s | original |
        | 20 MB | unknwon | original |
        | not < 20 MB | < -1 bit/s | original |
        | < 99999999999999999999 TB | - | original |
        """,
      errors: [
        "x.md:3:3: `20` is not a quantity, expected a number and a unit such as `20 MB`",
        "x.md:4:3: size has no unit `Mb`, expected B, kB, MB, GB, TB, KiB, MiB, GiB, TiB; did you mean `20 MB`?",
        "x.md:4:13: bandwidth has no unit `Mbits/s`, expected bit/s, kbit/s, Mbit/s, Gbit/s;"
          + " did you mean `5 Mbit/s`?",
        "x.md:5:3: size has no value `20 MB`, expected a comparison such as `< 20 MB`, or `unknown`",
        "x.md:5:11: bandwidth has no value `unknwon`, expected a comparison such as `< 5 Mbit/s`, or `unknown`;"
          + " did you mean `unknown`?",
        "x.md:6:3: `not` cannot negate a comparison, write the opposite comparison",
        "x.md:6:17: `-1 bit/s` is not a quantity, expected a number and a unit such as `5 Mbit/s`",
        "x.md:7:3: `99999999999999999999 TB` is too large",
      ]
    ),
    Row(
      name: "odd cells",
      text: """
        | network | metered | → image |
        |--|--|--|
        |  | no,, yes | original |
        | wifi, - | no, no | original |
        | wifi, not cellular | maybe | - |
        """,
      errors: [
        "x.md:3:2: empty cell, write `-` for any value",
        "x.md:3:6: a value is missing before or after a comma",
        "x.md:4:3: `-` means any value, write it without other values",
        "x.md:4:13: `no` appears twice",
        "x.md:5:3: write `not` once, before all values",
        "x.md:5:24: metered has no value `maybe`, expected no, yes, unknown",
        "x.md:5:32: image has no value `-`, expected original, thumbnail, cached, placeholder",
      ]
    ),
    Row(
      name: "a promise that cannot be read",
      text: """
        | → image |
        |--|
        | original |

        ## Promises
        | metred | → load | rule |
        |--|--|--|
        | yes | nothin | 1 |
        """,
      errors: [
        "x.md:6:3: unknown fact `metred`; did you mean `metered`?",
        "x.md:6:21: unknown outcome `rule`",
        "x.md:8:9: load has no value `nothin`; did you mean `nothing`?",
      ]
    ),
    Row(
      name: "control characters, which must not reach a terminal",
      text: "| \u{1B}[31mred | → image |\n|--|--|\n| - | original |\n",
      errors: ["x.md:1:3: unknown fact `\u{FFFD}[31mred`"]
    ),
  ]

  @Test(arguments: rows) func `all problems of a file are reported with their places`(row: Row) {
    #expect(problems(Array(row.text.utf8)) == row.errors)
  }

  @Test func `invalid UTF-8 is reported with its line`() {
    let text = Array("# x\n\n| a | ".utf8) + [0xFF, 0x20] + Array("|\n".utf8)
    #expect(problems(text) == ["x.md:3: the line is not valid UTF-8"])
  }

  @Test func `a gap is reported with its states`() {
    let text = """
      | original | network  | always original | thumbnail | -> image |
      |----------|----------|-----------------|-----------|----------|
      | cached   | -        | -               | -         | original |
      | -        | wifi     | -               | -         | original |
      | -        | cellular | yes             | -         | original |
      | -        | cellular | no              | -         | thumbnail |
      | -        | offline  | -               | cached    | thumbnail |
      | -        | offline  | -               | -         | placeholder |
      """
    #expect(
      problems(Array(text.utf8))
        == ["x.md: no rule for: network ethernet/other, original remote/none (24 states)"]
    )
  }

  @Test(arguments: ["|", "| a ", "|--", "`", "\n", "\\|", "| → image |\n|--|\n", "| , - |", "\r", "\0", "é|"])
  func `ten megabytes of garbage are refused`(piece: String) {
    let garbage = [UInt8](String(repeating: piece, count: 10_000_000 / piece.utf8.count).utf8)
    let found = problems(garbage)
    #expect(!found.isEmpty)
    #expect(found.count <= 101)
    #expect(found.allSatisfy { $0.count < 300 })
  }

  private func problems(_ markdown: [UInt8]) -> [String] {
    do throws(PolicyErrors) {
      _ = try CompiledPolicy(PolicyTable(name: "x", fileName: "x.md", markdown: markdown))
      return []
    } catch {
      return error.errors.map(\.description)
    }
  }
}
