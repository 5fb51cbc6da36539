import FeedimgJSON
import Testing

/// `feedimg doctor`, on this system and on worse ones.
struct DoctorTests {
  private let folder: TestFolder

  init() throws { folder = try TestFolder() }

  private func findings(_ run: CommandRun) throws -> [String: JSONObject] {
    let object = try #require(try run.objects.first)
    guard case .array(let values)? = object["findings"] else { return [:] }
    var findings: [String: JSONObject] = [:]
    for case .object(let finding) in values { findings[finding["subject"]?.text ?? ""] = finding }
    return findings
  }

  @Test func `a system that works ends with 0, and each line has a verdict, a subject and a sentence`() throws
  {
    let run = try CommandRun(["doctor"], in: folder)
    #expect((run.status, run.errors) == (0, ""))
    let lines = run.output.split(separator: "\n")
    for subject in [
      "netlink", "sysfs", "nl80211", "NetworkManager", "ModemManager", "libcurl", "SQLite", "settings",
    ] {
      #expect(lines.contains { $0.dropFirst(9).hasPrefix(subject + " ") }, "\(subject)")
    }
    for line in lines {
      #expect(
        ["ok", "no", "warning"].contains {
          line.prefix(9) == $0 + String(repeating: " ", count: 9 - $0.count)
        }
      )
    }
    #expect(lines.last?.contains("`default` decides") == true)
    #expect(folder.files(below: "").filter { !$0.hasPrefix("std") }.isEmpty, "nothing is made")
  }

  static let faults: [(arguments: [String], subject: String, verdict: String, text: String, status: Int32)] =
    [
      (["--policy", "/no/such.md"], "policy", "no", "nothing can be decided", 1),
      (["--config-dir", "/dev/null/x"], "settings", "warning", "settings cannot be changed", 0),
      (["--cache-dir", "/dev/null"], "cache", "warning", "images are shown and not kept", 0),
      (["--cache-dir", ""], "folders", "no", "nothing can be kept anywhere", 1),
    ]

  @Test(arguments: faults)
  func `a fault is said, and only what stops everything ends with 1`(
    _ arguments: [String],
    _ subject: String,
    _ verdict: String,
    _ text: String,
    _ status: Int32
  ) throws {
    let run = try CommandRun(["doctor", "--json"] + arguments, in: folder)
    #expect(run.status == status)
    #expect(try run.objects.first?["works"] == .bool(status == 0))
    let finding = try #require(try findings(run)[subject])
    #expect(finding["verdict"]?.text == verdict)
    #expect(finding["text"]?.text?.contains(text) == true, "\(finding)")
    #expect(finding["fatal"] == .bool(status != 0))
  }

  @Test func `damaged settings are a warning with their place`() throws {
    try folder.write("config/feedimg/settings.json", "{\n  \"cache-expiry-days\": 0\n}\n")
    let run = try CommandRun(["doctor"], in: folder)
    #expect(run.status == 0)
    #expect(run.output.contains("settings.json:2: `cache-expiry-days` takes"))
  }

  @Test(.enabled(if: NamespaceRun.isPermitted, "this system refuses network namespaces"))
  func `the evidence has the routes and links, and nothing that tells who somebody is`() throws {
    let script = """
      ip link add enx02c0ffee0102 type veth peer name p0
      ip link set p0 up; ip link set enx02c0ffee0102 up
      ip addr add 8.8.8.2/24 dev enx02c0ffee0102
      ip route add default via 8.8.8.1
      $feedimg doctor --evidence
      $feedimg doctor --evidence --unmasked >&2
      """
    let run = try NamespaceRun.run(script, in: folder)
    #expect(run.status == 0)
    for secret in ["8.8.8", "02c0ffee0102", folder.root] {
      #expect(!run.output.contains(secret), "\(secret)")
      #expect(run.errors.contains(secret), "\(secret)")
    }
    for part in [
      "\nkernel: Linux", "v4: default via PUBLIC-IPv4 dev enxMAC", "kind veth",
      "verdict: {\"kind\":\"ethernet\"",
    ] {
      #expect(run.output.contains(part), "\(part)")
    }
  }

  @Test(.enabled(if: NamespaceRun.isPermitted, "this system refuses network namespaces"))
  func `offline and with the sysfs of another network, that is said, and it still works`() throws {
    let run = try NamespaceRun.run("$feedimg doctor --json", in: folder)
    #expect(run.status == 0)
    let findings = try findings(run)
    #expect(findings["network"]?["verdict"] == "warning")
    #expect(findings["network"]?["text"]?.text?.contains("only what is cached can be shown") == true)
    #expect(findings["netlink"]?["verdict"] == "ok")
  }
}
