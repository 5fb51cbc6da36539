import FeedimgJSON
import Testing

/// `feedimg policy check` as a user runs it.
@Suite struct PolicyCheckVerbTests {
  struct Row: CustomTestStringConvertible {
    var file: String
    var text: String
    /// All lines of the output.
    var lines: [String]
    var status: Int32
    /// With `--strict`, if that differs.
    var strictStatus: Int32 = 1
    var testDescription: String { file }
  }

  static let rows: [Row] = [
    Row(
      file: "gap.md",
      text: PolicyFixtures.gap,
      lines: [
        "gap: 6 rules, 4 facts, 90 states",
        "error   gap.md: no rule for: network ethernet/other, original remote/none (24 states)",
      ],
      status: 1
    ),
    Row(
      file: "shadow.md",
      text: PolicyFixtures.shadow,
      lines: [
        "shadow: 6 rules, 4 facts, 90 states",
        "error   shadow.md:10: rule 6 is never reached: covered by rules 1, 4, 5",
        "warning shadow.md:6: rule 2 changes nothing: without it the rules below decide the same",
      ],
      status: 1
    ),
    Row(
      file: "typo2.md",
      text: PolicyFixtures.typo,
      lines: ["typo2.md:5:14: network has no value `celular`; did you mean `cellular`?"],
      status: 1
    ),
    Row(
      file: "promise.md",
      text: PolicyFixtures.promise,
      lines: [
        "promise: 3 rules, 3 facts, 45 states",
        "error   promise.md:13: promise 1 broken by rule 2: network wifi/ethernet, metered yes, original remote",
      ],
      status: 1
    ),
    Row(
      file: "greedy.md",
      text: PolicyFixtures.greedy,
      lines: [
        "greedy: 3 rules, 4 facts, 135 states",
        "warning greedy.md: metered no → yes loads more: network wifi/ethernet/cellular/other, metered no,"
          + " original remote",
        "ok: total, 3 of 3 rules reached, offline never loads",
      ],
      status: 0
    ),
    Row(
      file: "fine.json",
      text: #"{"rules": [{"when": {"original": "cached"}, "image": "original"}, {"image": "thumbnail"}]}"#,
      lines: [
        "fine: 2 rules, 3 facts, 45 states", "ok: total, 2 of 2 rules reached, offline never loads",
      ],
      status: 0,
      strictStatus: 0
    ),
  ]

  @Test(arguments: rows)
  func `every error is reported with its place`(row: Row) throws {
    let folder = try TestFolder()
    try folder.write(row.file, row.text)
    let run = try CommandRun(["policy", "check", row.file], in: folder)
    #expect(run.output == row.lines.map { $0 + "\n" }.joined())
    #expect(run.errors == "")
    #expect(run.status == row.status)
    #expect(try CommandRun(["policy", "check", "--strict", row.file], in: folder).status == row.strictStatus)
  }

  @Test func `a strict check reports its warnings as errors`() throws {
    let folder = try TestFolder()
    try folder.write("greedy.md", PolicyFixtures.greedy)
    let run = try CommandRun(["policy", "check", "greedy.md", "--strict"], in: folder)
    #expect(run.output.contains("\nerror   greedy.md: metered no → yes loads more"))
    #expect(!run.output.contains("ok:"))
    let json = try CommandRun(["policy", "check", "greedy.md", "--strict", "--json"], in: folder)
    #expect(try json.objects.first?["ok"] == false)
  }

  @Test func `a folder is checked policy by policy, the default first`() throws {
    let folder = try TestFolder()
    for name in ["budgeted", "data-saver", "default"] {
      let export = try CommandRun(["policy", "export", name], in: folder)
      try folder.write("Policies/\(name).md", export.output)
    }
    try folder.write("Policies/README.md", "| what | else |\n|--|--|\n| no | policy |\n")
    try folder.write("Policies/default.tests.md", "| network | → load |\n|--|--|\n| offline | nothing |\n")
    let run = try CommandRun(["policy", "check", "Policies/"], in: folder)
    #expect(
      run.output == """
        default: 6 rules, 4 facts, 90 states
        ok: total, 6 of 6 rules reached, offline never loads
        budgeted: 6 rules, 6 facts, 3240 states
        ok: total, 6 of 6 rules reached, offline never loads, 1 promise(s) hold
        data-saver: 5 rules, 5 facts, 270 states
        ok: total, 5 of 5 rules reached, offline never loads, 2 promise(s) hold

        """
    )
    #expect(run.status == 0)
  }

  @Test func `without arguments all policies are checked, including the user's`() throws {
    let folder = try TestFolder()
    let clean = try CommandRun(["policy", "check"], in: folder)
    #expect(clean.status == 0)
    #expect(clean.output.split(separator: "\n").count { $0.hasPrefix("ok: ") } == 7)
    try folder.write("config/feedimg/policies/mine.md", PolicyFixtures.gap)
    let run = try CommandRun(["policy", "check"], in: folder)
    #expect(run.status == 1)
    #expect(run.output.contains("/policies/mine.md: no rule for: "))
  }

  @Test(arguments: [
    ("gone.md", "feedimg: gone.md: cannot be read: no such file or directory\n"),
    ("empty.md", "feedimg: empty.md: the file is empty\n"),
    ("bytes.md", "feedimg: bytes.md:1: the line is not valid UTF-8\n"),
    ("prose.md", "feedimg: prose.md: no table, expected a Markdown table with a column `→ image`\n"),
    ("half.json", "feedimg: half.json:1:2: expected a member name in quotes, but the text ends here\n"),
    ("folder", "feedimg: folder: no policies in the folder\n"),
    ("x.tests.md", "feedimg: x.tests.md: contains test cases; run `feedimg policy test`\n"),
    ("defualt", "feedimg: there is neither a policy nor a file `defualt`; did you mean `default`?\n"),
  ])
  func `an unreadable file ends with 2, even if the others are valid`(file: String, message: String) throws {
    let folder = try TestFolder()
    try folder.write("empty.md", "")
    try folder.write("bytes.md", [0xFF, 0xFE, 0x7C])
    try folder.write("prose.md", "# A title\n\nAnd prose.\n")
    try folder.write("half.json", "{")
    try folder.write("folder/notes.txt", "x")
    try folder.write("x.tests.md", "| network | → load |\n|--|--|\n| offline | nothing |\n")
    let run = try CommandRun(["policy", "check", file, "default"], in: folder)
    #expect(run.errors == message)
    #expect(run.status == 2)
    #expect(run.output.hasPrefix("default: 6 rules"), "the others are checked nevertheless")
    let json = try CommandRun(["policy", "check", file, "--json"], in: folder)
    #expect(json.status == 2)
    let object = try #require(try json.objects.first)
    #expect(object["ok"] == false)
    guard case .array(let findings)? = object["findings"], case .object(let finding)? = findings.first else {
      Issue.record("no findings")
      return
    }
    #expect(finding["code"] == "unreadable")
  }

  @Test func `the JSON form has counts, and every finding with its place and an example`() throws {
    let folder = try TestFolder()
    try folder.write("promise.md", PolicyFixtures.promise)
    try folder.write("typo2.md", PolicyFixtures.typo)
    let run = try CommandRun(["policy", "check", "--json", "promise.md", "typo2.md"], in: folder)
    #expect(run.status == 1)
    let objects = try run.objects
    try #require(objects.count == 2)
    #expect(objects[0]["policy"] == "promise")
    #expect(objects[0]["file"] == "promise.md")
    #expect(objects[0]["states"] == 45)
    guard case .array(let broken)? = objects[0]["findings"], case .object(let promise)? = broken.first,
      case .array(let slips)? = objects[1]["findings"], case .object(let slip)? = slips.first,
      case .object(let witness)? = promise["witness"]
    else {
      Issue.record("no findings")
      return
    }
    #expect(promise["severity"] == "error")
    #expect(promise["code"] == "promise-broken")
    #expect(promise["line"] == 13)
    #expect(witness["metered"] == "yes")
    #expect(slip["code"] == "slip")
    #expect(slip["column"] == 14)
    #expect(slip["suggestion"] == "cellular")
  }

  @Test func `a fact of the application is known where it is declared`() throws {
    let folder = try TestFolder()
    let text = "| on screen | → image |\n|--|--|\n| yes | original |\n| no | cached |\n"
    try folder.write("mine.md", text)
    let unknown = try CommandRun(["policy", "check", "mine.md"], in: folder)
    #expect(unknown.output == "mine.md:1:3: unknown fact `on screen`\n")
    let run = try CommandRun(["policy", "check", "mine.md", "--declare", "on-screen=no,yes"], in: folder)
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.output.hasPrefix("mine: 2 rules, 4 facts, 90 states\n"))
  }
}
