import FeedimgJSON
import Testing

/// `feedimg policy test` as a user runs it.
@Suite struct PolicyTestVerbTests {
  private static let cases = """
    # Cases

    | case             | network  | always original | original | thumbnail | → load   |
    |------------------|----------|-----------------|----------|-----------|----------|
    | LTE, setting off | cellular | no              | remote   | remote    | original |
    | Wi-Fi            | wifi     | -               | remote   | -         | original |

    """

  @Test func `the built-in policies pass their cases`() throws {
    let folder = try TestFolder()
    let run = try CommandRun(["policy", "test"], in: folder)
    #expect(run.status == 0)
    let lines = run.output.split(separator: "\n")
    #expect(lines.count == 7)
    #expect(lines.first == "default: 8 of 8 cases pass; rules exercised 6 of 6; states checked 15 of 90")
    let one = try CommandRun(["policy", "test", "default"], in: folder)
    #expect(one.output == "8 of 8 cases pass; rules exercised 6 of 6; states checked 15 of 90\n")
  }

  @Test func `a failed case shows the actual decision and its rule`() throws {
    let folder = try TestFolder()
    try folder.write("x.tests.md", Self.cases)
    let run = try CommandRun(["policy", "test", "x.tests.md"], in: folder)
    #expect(run.status == 1)
    #expect(
      run.output == """
        default: 1 of 2 cases pass; rules exercised 2 of 6; states checked 7 of 90
        FAIL x.tests.md:5 LTE, setting off: load is thumbnail by rule 4, expected original

        """
    )
    let other = try CommandRun(["policy", "test", "x.tests.md", "--policy", "always-original"], in: folder)
    #expect(other.status == 0)
    #expect(other.output.hasPrefix("always-original: 2 of 2 cases pass"))
  }

  @Test func `cases belong to the policy beside them`() throws {
    let folder = try TestFolder()
    try folder.write("own/default.tests.md", Self.cases)
    #expect(
      try CommandRun(["policy", "test", "own/"], in: folder).status == 1,
      "the cases of the policy in force"
    )
    try folder.write("own/default.md", "| network | → image |\n|--|--|\n| - | original |\n")
    for argument in ["own", "own/default.tests.md", "own/default.md"] {
      let run = try CommandRun(["policy", "test", argument], in: folder)
      #expect(run.status == 0)
      #expect(run.output == "2 of 2 cases pass; rules exercised 1 of 1; states checked 7 of 90\n")
    }
  }

  @Test func `the decisions of a policy can be recorded and later reveal a change`() throws {
    let folder = try TestFolder()
    let export = try CommandRun(["policy", "export", "default"], in: folder)
    try folder.write("mine.md", export.output)
    let record = try CommandRun(["policy", "test", "mine.md", "--record", "mine.golden.md"], in: folder)
    #expect(record.status == 0, "\(record.errors)")
    let run = try CommandRun(["policy", "test", "mine.md"], in: folder)
    #expect(run.output == "16 of 16 cases pass; rules exercised 6 of 6; states checked 90 of 90\n")
    let changed = export.output.replacing(
      "| -        | wifi, ethernet  |",
      with: "| -        | ethernet, wifi  |"
    )
    try folder.write("mine.md", changed)
    #expect(try CommandRun(["policy", "test", "mine.md"], in: folder).status == 0, "it decides the same")
    try folder.write(
      "mine.md",
      changed.replacing("original    |\n| -        | cell", with: "thumbnail   |\n| -        | cell")
    )
    let broken = try CommandRun(["policy", "test", "mine.md"], in: folder)
    #expect(broken.status == 1)
    #expect(broken.output.contains("FAIL mine.golden.md:"))
  }

  @Test func `a record on standard output has no other text`() throws {
    let run = try CommandRun(["policy", "test", "wifi-only", "--record", "-"], in: try TestFolder())
    #expect(run.status == 0)
    #expect(run.output.hasPrefix("# What wifi-only decides\n"))
    #expect(!run.output.contains("cases pass"))
  }

  @Test func `the report for continuous integration names each case and each failure`() throws {
    let folder = try TestFolder()
    try folder.write("x.tests.md", Self.cases)
    let run = try CommandRun(["policy", "test", "x.tests.md", "--junit", "report.xml"], in: folder)
    #expect(run.status == 1)
    let report = try TestFolder.text(of: folder.path("report.xml"))
    #expect(report.contains(#"<testsuite name="default" tests="2" failures="1">"#))
    #expect(report.contains(#"<failure message="load is thumbnail by rule 4, expected original"/>"#))
  }

  @Test func `the JSON form counts rules and states`() throws {
    let run = try CommandRun(["policy", "test", "default", "--json"], in: try TestFolder())
    let object = try #require(try run.objects.first)
    #expect(object["ok"] == true)
    #expect(object["cases"] == 8)
    #expect(object["checkedStates"] == 15)
    #expect(object["states"] == 90)
  }

  @Test(arguments: [
    (["folder"], "folder: no test cases in the folder"),
    (["mine.md"], "mine.md: no test cases; expected `mine.tests.md` beside it"),
    (["gone.tests.md"], "gone.tests.md: cannot be read: no such file or directory"),
    (["none.tests.md"], "none.tests.md: no cases, expected a table of cases"),
    (["--record", "all.md"], "--record: expected one policy, found 7"),
    (["--record", "no/where.md"], "--record no/where.md: the folder `no` does not exist"),
    (
      ["default", "--policy", "defualt"],
      "there is neither a policy nor a file `defualt`; did you mean `default`?"
    ),
  ])
  func `a run without cases fails`(arguments: [String], message: String) throws {
    let folder = try TestFolder()
    try folder.write("folder/x.md", PolicyFixtures.greedy)
    try folder.write("mine.md", PolicyFixtures.greedy)
    try folder.write("none.tests.md", "# No cases\n")
    let run = try CommandRun(["policy", "test"] + arguments, in: folder)
    #expect(run.status == 2)
    #expect(run.errors == "feedimg: \(message)\n")
    #expect(run.output == "")
  }

  @Test func `mistakes in cases and in policies fail the run`() throws {
    let folder = try TestFolder()
    try folder.write("default.tests.md", Self.cases.replacing("cellular", with: "celular"))
    let cases = try CommandRun(["policy", "test", "default.tests.md"], in: folder)
    #expect(cases.status == 1)
    #expect(
      cases.errors
        == "feedimg: default.tests.md:5:22: network has no value `celular`; did you mean `cellular`?\n"
    )
    try folder.write("typo2.md", PolicyFixtures.typo)
    try folder.write("typo2.tests.md", Self.cases)
    let policy = try CommandRun(["policy", "test", "typo2.md"], in: folder)
    #expect(policy.status == 1)
    #expect(policy.errors.hasPrefix("feedimg: typo2.md:5:14: "))
  }
}
