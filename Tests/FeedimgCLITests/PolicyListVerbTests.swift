import FeedimgJSON
import Testing

/// `feedimg policy list`, `which` and `export`, and the policy in force, as a user sees them.
@Suite struct PolicyListVerbTests {
  private static let thrifty = """
    # thrifty

    Thumbnails are enough.

    | original | → image   |
    |----------|-----------|
    | cached   | original  |
    | -        | thumbnail |

    """

  @Test func `the list marks the policy in force and shows refused ones`() throws {
    let folder = try TestFolder()
    let mine = try folder.write("config/feedimg/policies/mine.md", Self.thrifty)
    let broken = try folder.write("config/feedimg/policies/metered.md", PolicyFixtures.gap)
    let run = try CommandRun(["policy", "list"], in: folder)
    #expect(run.status == 0)
    let lines = run.output.split(separator: "\n").map(String.init)
    #expect(lines.first == "* default          6 rules, 90 states    built-in")
    #expect(lines.contains("  mine             2 rules, 45 states    \(mine)"))
    #expect(lines.contains("    Thumbnails are enough."))
    #expect(lines.contains("  metered          6 rules, 270 states   built-in"))
    #expect(
      lines.contains(
        "    refused \(broken): no rule for: network ethernet/other, original remote/none (24 states)"
      )
    )
    let names = try CommandRun(["policy", "list", "--json"], in: folder).objects.map { $0["policy"]?.text }
    #expect(
      names == [
        "default", "always-original", "budgeted", "data-saver", "metered", "mine", "roaming-aware",
        "wifi-only",
      ]
    )
  }

  @Test func `which prints the file in force, and why`() throws {
    let folder = try TestFolder()
    let built = try CommandRun(["policy", "which"], in: folder)
    #expect(built.output.hasPrefix("default, built in\n"))
    #expect(built.output.contains("because     no file replaces it\n"))
    let path = try folder.write("config/feedimg/policies/default.md", Self.thrifty)
    let run = try CommandRun(["policy", "which"], in: folder)
    #expect(run.status == 0)
    #expect(
      run.output == """
        default, from \(path)
          size        2 rules, 45 states
          because     it replaces the following places
          places      in force   \(path)
                      missing    \(path.dropLast(3)).json
                      missing    /etc/feedimg/policies/default.md
                      missing    /etc/feedimg/policies/default.json
                      replaced   the built-in policy

        """
    )
    let item = try folder.write("item.json", ResolveTests.item)
    let resolved = try CommandRun(["resolve", "--json", "--item", item, "--network", "wifi"], in: folder)
    #expect(try resolved.objects.first?["image"] == "thumbnail")
    #expect(try resolved.objects.first?["place"] == .string("\(path):8"))
  }

  @Test func `an invalid policy file is refused, and every command says why`() throws {
    let folder = try TestFolder()
    let path = try folder.write("config/feedimg/policies/default.md", PolicyFixtures.typo)
    let reason = "\(path):5:14: network has no value `celular`; did you mean `cellular`?"
    let run = try CommandRun(["policy", "which"], in: folder)
    #expect(run.output.hasPrefix("default, built in\n"))
    #expect(run.output.contains("because     the file that would replace it has errors\n"))
    #expect(run.output.contains("refused    \(path)\n"))
    #expect(run.output.contains("  \(reason)\n"))
    let json = try #require(try CommandRun(["policy", "which", "--json"], in: folder).objects.first)
    guard case .array(let candidates)? = json["candidates"], case .object(let first)? = candidates.first
    else {
      Issue.record("no candidates")
      return
    }
    #expect(first["status"] == "refused")
    #expect(first["reasons"] == [.string(reason)])
    let item = try folder.write("item.json", ResolveTests.item)
    let resolved = try CommandRun(["resolve", "--json", "--item", item, "--network", "wifi"], in: folder)
    #expect(resolved.status == 0)
    #expect(try resolved.objects.first?["image"] == "original")
    #expect(resolved.errors == "feedimg: \(reason); the built-in `default` stays in force\n")
  }

  @Test func `a policy of the user can be chosen by name`() throws {
    let folder = try TestFolder()
    try folder.write("config/feedimg/policies/thrifty.md", Self.thrifty)
    let item = try folder.write("item.json", ResolveTests.item)
    let arguments = ["resolve", "--json", "--item", item, "--network", "wifi", "--policy"]
    let run = try CommandRun(arguments + ["thrifty"], in: folder)
    #expect(try run.objects.first?["policy"] == "thrifty")
    let unknown = try CommandRun(arguments + ["thrify"], in: folder)
    #expect(unknown.status == 2)
    #expect(
      unknown.errors == "feedimg: there is neither a policy nor a file `thrify`; did you mean `thrifty`?\n"
    )
  }

  @Test(arguments: ["default", "budgeted", "data-saver"])
  func `an exported policy decides the same`(name: String) throws {
    let folder = try TestFolder()
    let text = try CommandRun(["policy", "export", name], in: folder)
    #expect(text.status == 0)
    #expect(text.output.hasPrefix("# \(name)\n"))
    let json = try CommandRun(["policy", "export", name, "--json"], in: folder)
    try folder.write("copy.md", text.output)
    try folder.write("copy.json", json.output)
    for copy in ["copy.md", "copy.json"] {
      let diff = try CommandRun(["policy", "diff", name, copy], in: folder)
      #expect(diff.output.contains(": 0 of "), "\(diff.output)\(diff.errors)")
      #expect(try CommandRun(["policy", "check", copy, "--strict"], in: folder).status == 0)
    }
  }

  @Test func `the schema of the JSON form can be printed`() throws {
    let folder = try TestFolder()
    let run = try CommandRun(["policy", "export", "--schema"], in: folder)
    guard case .object(let schema) = try JSONReader.value(in: Array(run.output.utf8)) else {
      Issue.record("no object")
      return
    }
    #expect(schema["$schema"] == "https://json-schema.org/draft/2020-12/schema")
    #expect(try CommandRun(["policy", "export"], in: folder).status == 2)
    #expect(try CommandRun(["policy", "export", "default", "--schema"], in: folder).status == 2)
  }

  @Test func `shells complete the names of policies, and files`() throws {
    let folder = try TestFolder()
    try folder.write("config/feedimg/policies/mine.md", Self.thrifty)
    try folder.write("drafts/other.md", Self.thrifty)
    try folder.write("drafts/notes.txt", "x")
    func completed(_ start: String) throws -> [Substring] {
      let arguments = [
        "---completion", "policy", "check", "--", "positional@0", "1", "\(start.utf8.count)", start,
      ]
      let run = try CommandRun(arguments, in: folder, environment: ["SAP_SHELL": "bash"])
      return run.output.split(separator: "\n")
    }
    #expect(try completed("d") == ["default", "data-saver", "drafts/"])
    #expect(try completed("mi") == ["mine"])
    #expect(try completed("drafts/") == ["drafts/other.md"])
  }

  @Test func `output that is not on a terminal has no colours`() throws {
    let folder = try TestFolder()
    for verb in [["list"], ["which"], ["check"], ["diff", "default", "wifi-only"], ["test"]] {
      #expect(!(try CommandRun(["policy"] + verb, in: folder).output.contains("\u{1B}")))
    }
  }
}
