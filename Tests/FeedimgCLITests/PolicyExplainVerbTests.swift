import FeedimgJSON
import FeedimgModel
import Testing

/// `feedimg policy table`, `explain` and `diff` as a user runs them.
@Suite struct PolicyExplainVerbTests {
  // MARK: table

  @Test func `the table of a policy has few rows, aligned`() throws {
    let run = try CommandRun(["policy", "table", "default", "network=cellular"], in: try TestFolder())
    #expect(run.status == 0)
    #expect(
      run.output == """
        network          always original  original      thumbnail     show now     load       upgrade  rule  states
        -                -                cached        -             original     nothing    -        1     30
        cellular, other  yes              remote        cached        thumbnail    original   -        3     2
        cellular, other  yes              remote        remote, none  placeholder  original   -        3     4
        cellular, other  yes              none          cached        thumbnail    nothing    -        3     2
        cellular, other  yes              none          remote        placeholder  thumbnail  -        3     2
        cellular, other  yes              none          none          placeholder  nothing    -        3     2
        cellular, other  no               remote, none  cached        thumbnail    nothing    -        4     4
        cellular, other  no               remote, none  remote        placeholder  thumbnail  -        4     4
        cellular, other  no               remote, none  none          placeholder  nothing    -        4     4

        """
    )
    let whole = try CommandRun(["policy", "table"], in: try TestFolder())
    #expect(whole.output.split(separator: "\n").count == 17, "a header and sixteen rows")
  }

  @Test func `a table fits into the available columns`() throws {
    let arguments = ["policy", "table", "default", "network=cellular", "always-original=no"]
    let narrow = try CommandRun(arguments, in: try TestFolder(), environment: ["COLUMNS": "87"])
    #expect(
      narrow.output == """
        network    always    original  thumbnail  show now     load       upgrade  rule  states
                   original
        -          -         cached    -          original     nothing    -        1     30
        cellular,  no        remote,   cached     thumbnail    nothing    -        4     4
        other                none
        cellular,  no        remote,   remote     placeholder  thumbnail  -        4     4
        other                none
        cellular,  no        remote,   none       placeholder  nothing    -        4     4
        other                none

        """
    )
    let narrower = try CommandRun(arguments, in: try TestFolder(), environment: ["COLUMNS": "60"])
    #expect(
      narrower.output.hasPrefix(
        """
        original cached
          → show now original, load nothing, upgrade -, rule 1,
            states 30
        network cellular, other; always original no; original
            remote, none; thumbnail cached
          → show now thumbnail, load nothing, upgrade -, rule 4,
            states 4

        """
      )
    )
    for policy in ["budgeted", "data-saver", "roaming-aware"] {
      let table = try CommandRun(
        ["policy", "table", policy],
        in: try TestFolder(),
        environment: ["COLUMNS": "80"]
      )
      let diff = try CommandRun(
        ["policy", "diff", "default", policy],
        in: try TestFolder(),
        environment: ["COLUMNS": "80"]
      )
      for line in (table.output + diff.output).split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
    }
  }

  @Test func `the whole table as JSON has an object for each state, in order`() throws {
    let run = try CommandRun(["policy", "table", "default", "--all", "--json"], in: try TestFolder())
    guard case .array(let states) = try JSONReader.value(in: Array(run.output.utf8)) else {
      Issue.record("no array")
      return
    }
    #expect(states.count == 90)
    let situation = Situation(network: .wifi, original: .remote, thumbnail: .cached)
    let decision = Decision(ceiling: .original, in: situation, rule: 2)
    let later = DecisionPart.columns.dropFirst(2)
      .map { #","\#($0.rawValue)":"\#($0.value(in: decision))""# }.joined()
    let second = #"""
      {"state":{"network":"wifi","always original":"no","original":"remote","thumbnail":"cached"},\#
      "rule":2,"image":"original","source":"network","show":"thumbnail","load":"original","upgrade":"never"\#(later)}
      """#
    #expect(states[3].text(.compact) == second)
    #expect(run.output.split(separator: "\n").count == 92, "one object a line, between brackets")
  }

  @Test func `facts select the matching states, also one by one`() throws {
    let folder = try TestFolder()
    let arguments = ["policy", "table", "default", "network=offline", "always-original=yes", "--all"]
    let text = try CommandRun(arguments, in: folder)
    #expect(text.output.split(separator: "\n").count == 10)
    #expect(
      text.output.hasPrefix(
        """
        network  always original  original  thumbnail  show now     load     upgrade  rule
        offline  yes              cached    cached     original     nothing  -        1

        """
      )
    )
    let sizes = ["policy", "table", "budgeted", "budget-left=19 MB", "--all", "--json"]
    let run = try CommandRun(sizes, in: folder)
    #expect(run.output.contains(#""budget left":"< 20 MB""#))
    #expect(!run.output.contains(#""budget left":">= 500 MB""#))
  }

  @Test func `states without a rule are reported, because no row shows them`() throws {
    let folder = try TestFolder()
    try folder.write("gap.md", PolicyFixtures.gap)
    let run = try CommandRun(["policy", "table", "gap.md"], in: folder)
    #expect(run.status == 1)
    #expect(
      run.errors == "feedimg: gap.md: no rule for: network ethernet/other, original remote/none (24 states)\n"
    )
    #expect(run.output.hasPrefix("network   always original"))
  }

  // MARK: explain

  @Test func `each rule that was tried says why it does not apply`() throws {
    let run = try CommandRun(
      ["policy", "explain", "default", "network=cellular", "original=remote", "thumbnail=cached"],
      in: try TestFolder()
    )
    #expect(run.status == 0)
    #expect(
      run.output == """
          ✗ rule 1  original is remote, not cached
          ✗ rule 2  network is cellular, not wifi, ethernet
          ✗ rule 3  always original is no, not yes
          ✓ rule 4  network is cellular; always original is no
        → image: thumbnail (cache)   now: thumbnail   load: nothing   upgrade: -   [default.md:10]

        """
    )
  }

  @Test func `an unknown value matches no comparison`() throws {
    let run = try CommandRun(
      [
        "policy", "explain", "budgeted", "network=cellular", "metered=yes", "budget-left=1.2 GB",
        "size=unknown",
      ],
      in: try TestFolder()
    )
    #expect(
      run.output.hasSuffix(
        """
          ✗ rule 5  size is unknown, not <= 300 kB
          ✓ rule 6  always
        → image: thumbnail (network)   now: placeholder   load: thumbnail   upgrade: unmetered   [budgeted.md:12]

        """
      )
    )
  }

  @Test func `facts that were not given are named as such`() throws {
    let folder = try TestFolder()
    let run = try CommandRun(["policy", "explain", "default", "network=wifi", "--json"], in: folder)
    let object = try #require(try run.objects.first)
    guard case .array(let assumed)? = object["assumed"], case .object(let facts)? = object["facts"] else {
      Issue.record("no facts")
      return
    }
    #expect(assumed.prefix(4) == ["metered", "roaming", "data saver", "always original"])
    #expect(facts["metered"] == "unknown")
    #expect(facts["original"] == "remote")
    let text = try CommandRun(["policy", "explain", "default", "network=wifi", "-v"], in: folder)
    #expect(text.output.contains("    network          wifi     given\n"))
    #expect(text.output.contains("    original         remote   not given\n"))
  }

  @Test func `other facts can be read from the machine`() throws {
    let folder = try TestFolder()
    let set = try CommandRun(["settings", "set", "always-load-originals-on-cellular", "yes"], in: folder)
    #expect(set.status == 0)
    let arguments = ["policy", "explain", "default", "network=cellular", "--live", "-v"]
    let run = try CommandRun(arguments, in: folder)
    #expect(run.output.contains("  ✓ rule 3  network is cellular; always original is yes\n"))
    #expect(run.output.contains("the setting always-load-originals-on-cellular"))
    let metered = "    metered          unknown   not given\n"
    #expect(run.output.contains(metered), "it belonged to another network")
  }

  @Test(arguments: [
    ("network=celular", "network has no value `celular`; did you mean `cellular`?"),
    ("netwrok=wifi", "unknown fact `netwrok`; did you mean `network`?"),
    ("wifi", "expected a fact and its value, such as `network=cellular`, found `wifi`"),
    ("size=big", "size has no value `big`, expected a quantity such as `20 MB`, or `unknown`"),
    ("fits=yes", "`fits` follows from `size` and `budget left`, set them instead"),
  ])
  func `an invalid fact ends with 2`(argument: String, message: String) throws {
    let run = try CommandRun(["policy", "explain", "default", argument], in: try TestFolder())
    #expect(run.status == 2)
    #expect(run.errors == "feedimg: \(message)\n")
    #expect(run.output == "")
  }

  @Test func `a policy with gaps cannot be explained`() throws {
    let folder = try TestFolder()
    try folder.write("gap.md", PolicyFixtures.gap)
    let run = try CommandRun(["policy", "explain", "gap.md", "network=other"], in: folder)
    #expect(run.status == 1)
    #expect(run.errors.hasPrefix("feedimg: gap.md: no rule for: "))
  }

  // MARK: diff

  @Test func `a comparison shows the states in which more is loaded`() throws {
    let folder = try TestFolder()
    let run = try CommandRun(["policy", "diff", "default", "data-saver"], in: folder)
    #expect(run.status == 0)
    #expect(
      run.output.hasPrefix("default → data-saver: 126 of 540 states differ; 120 load less, 6 load more\n")
    )
    #expect(
      run.output.contains(
        """
          load nothing → original   (2 states)
              network cellular/other, metered no, data saver off, always original no, original remote, thumbnail cached

        """
      )
    )
    let other = try CommandRun(["policy", "diff", "default", "roaming-aware"], in: folder)
    #expect(
      other.output.hasPrefix("default → roaming-aware: 12 of 180 states differ; 12 load less, 0 load more\n")
    )
  }

  static let gates: [(arguments: [String], status: Int32)] = [
    (["default", "data-saver"], 0), (["default", "data-saver", "--fail-if-more"], 1),
    (["default", "roaming-aware", "--fail-if-more"], 0), (["default", "default", "--fail-if-more"], 0),
    (["default", "gap.md"], 1), (["default", "gone.md"], 2), (["default"], 2),
  ]

  @Test(arguments: gates)
  func `a comparison can serve as a check`(arguments: [String], status: Int32) throws {
    let folder = try TestFolder()
    try folder.write("gap.md", PolicyFixtures.gap)
    #expect(try CommandRun(["policy", "diff"] + arguments, in: folder).status == status)
  }

  @Test func `the JSON form of a comparison has the changes with their boxes`() throws {
    let run = try CommandRun(["policy", "diff", "default", "data-saver", "--json"], in: try TestFolder())
    let object = try #require(try run.objects.first)
    #expect(object["differ"] == 126)
    #expect(object["loadMore"] == 6)
    guard case .array(let changes)? = object["changes"] else {
      Issue.record("no changes")
      return
    }
    #expect(changes.count == 7)
  }
}
