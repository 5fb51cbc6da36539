import FeedimgJSON
import LoopbackServer
import TestSystem
import Testing

/// The command with NetworkManager and ModemManager, which python-dbusmock simulates on a private bus.
@Suite(
  .enabled(if: NamespaceRun.isPermitted, "this system refuses network namespaces"),
  .enabled(if: PrivateBus.isInstalled, "dbus-daemon or python3-dbusmock is not installed"),
  .timeLimit(.minutes(10))
)
struct NetworkServicesTests {
  private let folder: TestFolder
  private let services: PrivateBus

  init() throws {
    folder = try TestFolder()
    services = try #require(PrivateBus())
  }

  private func run(_ script: String, environment: [String: String] = [:]) throws -> CommandRun {
    let bus = ["DBUS_SYSTEM_BUS_ADDRESS": services.address].merging(environment) { $1 }
    return try NamespaceRun.run(NamespaceRun.cable + script, in: folder, environment: bus)
  }

  @Test(arguments: [
    (0, "unknown", "the hardware behind the virtual link is unknown"),
    (1, "yes", "NetworkManager reports it"),
    (2, "no", "NetworkManager reports it"), (3, "yes", "NetworkManager reports it"),
    (4, "unknown", "the hardware behind the virtual link is unknown"),
  ])
  func `NetworkManager's metering setting applies`(_ setting: Int, _ metered: String, _ reason: String) throws
  {
    #expect(services.order("device('v0', \(setting))") == "done")
    let state = try #require(try run("$feedimg network --json").objects.first)
    #expect((state["metered"]?.text, state["meteredReason"]?.text) == (metered, reason))
  }

  @Test func `a captive portal is reported, and the network does not count as offline`() throws {
    #expect(services.order("device('v0', 2, 2)") == "done")
    let run = try run("$feedimg network --json; $feedimg network")
    #expect(try #require(run.output.split(separator: "\n").first).contains(#""captive":true"#))
    #expect(run.output.contains("ethernet, not metered, virtual, behind a login page\n"))
  }

  @Test func `a policy that depends on metering asks NetworkManager, and the output names the source`() throws
  {
    #expect(services.order("device('v0', 1)") == "done")
    try folder.write("item.json", #"{"originalImage": "https://x.example/a.jpg"}"#)
    let resolve = #"$feedimg resolve -v --item "$HOME/item.json" --policy"#
    let run = try run("\(resolve) metered; \(resolve) default")
    let facts = run.output.split(separator: "\n").filter {
      $0.contains(" metered  ") || $0.contains(" roaming  ")
    }
    #expect(
      facts.map { $0.split(separator: " ").joined(separator: " ") } == [
        "metered yes NetworkManager reports it", "roaming no roaming is not reported",
        "metered unknown the hardware behind the virtual link is unknown; "
          + "NetworkManager was not asked, because no rule depends on it",
        "roaming no not read, because no rule depends on it",
      ]
    )
  }

  /// Serves a picture over the cable, and records every request with its Save-Data field in `asked`.
  private func serve(_ script: String) throws -> CommandRun {
    try folder.write("picture", SampleImage.jpeg)
    try folder.write("item.json", #"{"originalImage": "http://192.0.2.2:8080/a.jpg"}"#)
    try folder.write(
      "server.py",
      """
      import http.server
      class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
          with open('asked', 'a') as asked: print(self.path, self.headers['Save-Data'], file=asked)
          body = open('picture', 'rb').read()
          self.send_response(200)
          self.send_header('Content-Type', 'image/jpeg')
          self.send_header('Content-Length', str(len(body)))
          self.end_headers()
          self.wfile.write(body)
      server = http.server.HTTPServer(('192.0.2.2', 8080), Handler)
      with open('ready', 'w') as ready: print('yes', file=ready)
      server.serve_forever()
      """
    )
    return try run(
      """
      ip link set lo up
      cd "$HOME"; mkfifo ready
      /usr/bin/python3 server.py 2>errors & server=$!
      read -r _ <ready
      \(script)
      # Not SIGTERM, which threads of the test run block, and so what they start.
      kill -9 $server; wait $server || true
      [ ! -e asked ] || cat asked
      """
    )
  }

  @Test(arguments: [(1, "skipped", []), (2, "fetched", ["/a.jpg None"])])
  func `a prefetch follows NetworkManager, whatever facts the policy uses`(
    _ setting: Int,
    _ outcome: String,
    _ asked: [String]
  ) throws {
    #expect(services.order("device('v0', \(setting))") == "done")
    let run = try serve("$feedimg prefetch item.json --json")
    let lines = run.output.split(separator: "\n").map(String.init)
    let told = try #require(lines.first)
    #expect(told.contains(#""outcome":"\#(outcome)""#), "\(run.output) \(run.errors)")
    #expect(told.contains("data costs") == (setting == 1))
    #expect(lines.filter { $0.hasPrefix("/") } == asked)
  }

  @Test(arguments: [(1, "on", "metered"), (2, "None", "unmetered")])
  func `requests and counts follow NetworkManager, whatever facts the policy uses`(
    _ setting: Int,
    _ saving: String,
    _ counted: String
  ) throws {
    #expect(services.order("device('v0', \(setting))") == "done")
    let run = try serve("$feedimg load --item item.json >loaded; $feedimg usage")
    let lines = run.output.split(separator: "\n")
    #expect(lines.last == "/a.jpg \(saving)", "\(run.output) \(run.errors)")
    let sums = lines.map { $0.split(separator: " ") }.filter { $0.contains("ethernet") }
    #expect(!sums.isEmpty && sums.allSatisfy { $0.contains(Substring(counted)) }, "\(run.output)")
  }

  @Test func `the doctor reports that the services run`() throws {
    let findings = try run("$feedimg doctor").output.split(separator: "\n")
    for line in [
      "ok       NetworkManager  it runs: feedimg uses its metering settings",
      "ok       ModemManager    it runs: roaming is known",
    ] {
      #expect(findings.contains(Substring(line)), "\(line)")
    }
  }

  @Test func `in a sandbox the desktop's portal is asked`() throws {
    #expect(services.order("portal(True, 3)") == "done")
    let sandbox = [
      "SNAP": "/snap/feedimg/1", "DBUS_SESSION_BUS_ADDRESS": services.address,
      "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/no/such/bus",
    ]
    let run = try run("$feedimg network --json; $feedimg doctor", environment: sandbox)
    let lines = run.output.split(separator: "\n")
    #expect(lines.first?.contains(#""metered":"yes""#) == true)
    #expect(lines.first?.contains("the desktop portal reports it") == true)
    #expect(lines.contains("ok       portal          it reports metering to this sandbox"))
  }

  @Test(arguments: ["unix:path=/no/such/bus", "nonsense", "unix:path=/dev/null"])
  func `an invalid bus address changes nothing`(_ address: String) throws {
    let run = try run("$feedimg network --json", environment: ["DBUS_SYSTEM_BUS_ADDRESS": address])
    #expect((run.status, run.errors) == (0, ""))
    #expect(try run.objects.first?["metered"] == "unknown")
  }
}
