import FeedimgJSON
import FoundationEssentials
import LoopbackServer
import Testing

/// `feedimg gateway`, and the row of `feedimg doctor`.
struct GatewayVerbTests {
  private let folder: TestFolder

  init() throws { folder = try TestFolder() }

  /// Writes what a service writes about its gateway.
  private func write(_ text: String, token: String = "abc") throws -> [String] {
    let path = folder.path("gateway")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: URL(filePath: "\(path)/gateway.json"))
    try Data("\(token)\n".utf8).write(to: URL(filePath: "\(path)/gateway-token"))
    return ["--config-dir", path]
  }

  @Test func `the settings of each kind of client are printed`() throws {
    let server = try LoopbackServer { request in
      .response(request.method == "OPTIONS" && request.path == "/g/" ? 204 : 404)
    }
    let base = server.url("")
    let options = try write(#"{"address":"\#(base)","server":"https://m.example"}"#)
    let run = try CommandRun(["gateway"] + options, in: folder)
    #expect((run.status, run.errors) == (0, ""))
    for line in [
      "Mastodon clients", "    \(base)", "    curl -s \(base)/api/v1/instance", "feed readers",
      "    \(base)/g/abc/feed/", "Miniflux", "    \(base)/g/abc", "FreshRSS", "    \(base)/g/abc/fetch?url=",
    ] { #expect(run.output.split(separator: "\n").contains(Substring(line)), "\(line)") }
    let json = try #require(try CommandRun(["gateway", "--json"] + options, in: folder).objects.first)
    #expect((json["reached"], json["address"]?.text) == (.bool(true), base))
    let doctor = try CommandRun(["doctor"] + options, in: folder)
    #expect(
      doctor.output.contains("the gateway at `\(base)` responds and serves the API of `https://m.example`")
    )
  }

  @Test func `a gateway that no client can use is an error with advice`() throws {
    let none = try CommandRun(["gateway", "--config-dir", folder.path("none")], in: folder)
    #expect((none.status, none.output) == (1, ""))
    #expect(none.errors.contains("no service with a gateway is running; start `feedimg serve --port 8080"))
    let options = try write(#"{"address":null,"server":null}"#)
    let onSocket = try CommandRun(["gateway"] + options, in: folder)
    #expect(onSocket.status == 1 && onSocket.errors.contains("listens on no port"))
    #expect(try CommandRun(["doctor"] + options, in: folder).output.contains("add `--port 8080`"))
    let base = "http://127.0.0.1:\(try ClosedPort().port)"
    _ = try write(#"{"address":"\#(base)","server":null}"#)
    let crashed = try CommandRun(["gateway"] + options, in: folder)
    #expect(crashed.status == 1 && crashed.errors.contains("does not respond"))
    let json = try CommandRun(["gateway", "--json"] + options, in: folder)
    #expect(try json.objects.first?["reached"] == .bool(false))
    #expect(
      try CommandRun(["doctor"] + options, in: folder).output.contains("the gateway at `\(base)` does not")
    )
  }
}
