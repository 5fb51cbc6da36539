import FeedimgJSON
import Glibc
import LoopbackServer
import Testing

/// `feedimg doctor`, on a working system and on broken ones.
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

  @Test func `on a working system the status is 0, and each line has a verdict, a subject and a sentence`()
    throws
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
        ["ok", "no", "warning", "broken"].contains {
          line.prefix(9) == $0 + String(repeating: " ", count: 9 - $0.count)
        }
      )
    }
    #expect(lines.last?.contains("`default` is in force") == true)
    #expect(folder.files(below: "").filter { !$0.hasPrefix("std") }.isEmpty, "no files are created")
  }

  static let faults: [(arguments: [String], subject: String, verdict: String, text: String, status: Int32)] =
    [
      (["--policy", "/no/such.md"], "policy", "no", "no policy is usable", 1),
      (["--config-dir", "/dev/null/x"], "settings", "warning", "settings cannot be changed", 0),
      (["--cache-dir", "/dev/null"], "cache", "broken", "(not a folder): images are shown but not", 1),
      (["--cache-dir", ""], "folders", "no", "no folder is known for settings and cache", 1),
    ]

  @Test(arguments: faults)
  func `a fault is reported, and a serious one ends with 1`(
    _ arguments: [String],
    _ subject: String,
    _ verdict: String,
    _ text: String,
    _ status: Int32
  ) throws {
    let run = try CommandRun(["doctor", "--json"] + arguments, in: folder)
    #expect(run.status == status)
    #expect(try run.objects.first?["works"] == .bool(verdict != "no"))
    #expect(try run.objects.first?["healthy"] == .bool(status == 0))
    let finding = try #require(try findings(run)[subject])
    #expect(finding["verdict"]?.text == verdict)
    #expect(finding["text"]?.text?.contains(text) == true, "\(finding)")
    #expect(finding["fatal"] == .bool(verdict == "no"))
  }

  /// The finding of a run that ends with 1 and has no other fault.
  private func broken(_ subject: String, _ arguments: [String] = []) throws -> String {
    let run = try CommandRun(
      ["doctor", "--json", "--unmasked"] + arguments,
      in: folder,
      environment: ["XDG_RUNTIME_DIR": folder.path("run")]
    )
    #expect(run.status == 1, "\(run.output)")
    #expect(try run.objects.first?["works"] == true)
    let broken = try findings(run).values.filter { $0["verdict"] == "broken" }
    #expect(broken.map { $0["subject"]?.text } == [subject])
    return broken.first?["text"]?.text ?? ""
  }

  @Test func `a refused policy is a fault, in force or not`() throws {
    try folder.write(
      "config/feedimg/policies/mine.md",
      "| network | → image |\n|---|---|\n| wifi | original |\n"
    )
    let text = try broken("policy file")
    #expect(text.contains("`mine` is refused") && text.contains("mine.md: no rule for"), "\(text)")
  }

  @Test func `a socket without a service is a fault, and one with a service is not`() throws {
    try folder.write("run/x", "")
    let path = folder.path("run/feedimg.sock")
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let isBound = withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
    try #require(isBound)
    #expect(try broken("service").contains("no service listens at `\(path)`"))
    listen(descriptor, 1)
    let run = try CommandRun(["doctor"], in: folder, environment: ["XDG_RUNTIME_DIR": folder.path("run")])
    #expect(run.status == 0)
    #expect(run.output.contains("a service listens at"), "\(run.output)")
  }

  @Test func `a token that others can read is a fault`() throws {
    let path = try folder.write("config/feedimg/service-token", "secret")
    chmod(path, 0o644)
    #expect(try broken("token").contains("other users can read `\(path)`"))
    chmod(path, 0o600)
    #expect(try CommandRun(["doctor"], in: folder).status == 0)
  }

  @Test func `missing image files are a fault until the cache is verified`() throws {
    let server = try LoadTests.makeServer()
    for name in ["/original.jpg", "/thumbnail.webp"] {
      #expect(try CommandRun(["load", server.url(name), "--network", "wifi"], in: folder).status == 0)
    }
    #expect(try CommandRun(["doctor"], in: folder).status == 0)
    let list = try CommandRun(["cache", "list", "--json"], in: folder)
    unlink(try #require(try list.objects.first?["path"]?.text))
    #expect(try broken("images").contains("1 of 2 images"))
    _ = try CommandRun(["cache", "verify"], in: folder)
    #expect(try CommandRun(["doctor"], in: folder).status == 0)
  }

  @Test func `damaged settings are a warning with file and line`() throws {
    try folder.write("config/feedimg/settings.json", "{\n  \"cache-expiry-days\": 0\n}\n")
    let run = try CommandRun(["doctor"], in: folder)
    #expect(run.status == 0)
    #expect(run.output.contains("settings.json:2: `cache-expiry-days` takes"))
  }

  @Test(.enabled(if: NamespaceRun.isPermitted, "this system refuses network namespaces"))
  func `the evidence has the routes and links, and no personal data`() throws {
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
  func `offline, with the sysfs of another network, the doctor says so and works`() throws {
    let run = try NamespaceRun.run("$feedimg doctor --json", in: folder)
    #expect(run.status == 0)
    let findings = try findings(run)
    #expect(findings["network"]?["verdict"] == "warning")
    #expect(findings["network"]?["text"]?.text?.contains("only cached images can be shown") == true)
    #expect(findings["netlink"]?["verdict"] == "ok")
  }
}
