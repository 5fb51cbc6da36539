import Feedimg
import FeedimgAdmin
import FeedimgJSON
import FoundationEssentials
import Glibc
import LoopbackServer
import TestSystem
import Testing

/// How the service starts and ends.
@Suite(.timeLimit(.minutes(10))) struct LifecycleTests {
  /// Runs a service that cannot start, and returns its status and its message.
  private func refused(
    _ arguments: [String],
    in root: String,
    _ variables: [String: String]? = nil
  ) throws -> (
    status: Int32, errors: String
  ) {
    let path = "\(root)/refusal"
    unlink(path)
    let process = try ServiceRun.spawn(
      [ServiceRun.program] + arguments,
      variables ?? ServiceRun.variables(root),
      errors: path
    )
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    let errors = try String(decoding: Data(contentsOf: URL(filePath: path)), as: UTF8.self)
    return (status >> 8 & 0xFF, errors.replacing(root, with: "~"))
  }

  private func mode(of path: String) -> mode_t? {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode : nil
  }

  @Test func `the socket is accessible to the user alone and is removed with the service`() throws {
    let service = try ServiceRun()
    #expect(mode(of: service.socket) == S_IFSOCK | 0o600)
    #expect(service.errors == "feedimg: serving on \(service.socket)\n")
    service.signal(SIGTERM)
    #expect(service.notice().hasPrefix("STOPPING=1"))
    #expect(service.end() == 0)
    #expect(mode(of: service.socket) == nil)
  }

  @Test func `a second service is refused, and the first continues`() throws {
    let service = try ServiceRun()
    let second = try refused([], in: service.root)
    #expect(second == (1, "feedimg: another `feedimg serve` already listens on `~/feedimg.sock`\n"))
    #expect(try service.curl("/healthz").text == "ok\n")
  }

  @Test func `the socket of a killed service is taken over`() throws {
    let killed = try ServiceRun()
    killed.signal(SIGKILL)
    #expect(killed.end() == 128)
    #expect(mode(of: killed.socket) != nil)
    let next = try ServiceRun(besides: killed)
    #expect(try next.curl("/healthz").text == "ok\n")
  }

  @Test func `a service that cannot listen says why`() throws {
    let service = try ServiceRun(["--port=0"])
    let root = service.root
    try Data("precious".utf8).write(to: URL(filePath: "\(root)/file"))
    let long = String(repeating: "x", count: 120)
    let port = String(service.errors.split(separator: "\n")[0].split(separator: ":").last ?? "")
    let rows: [([String], Int32, String)] = [
      (
        ["--socket=\(root)/file"], 2,
        "`~/file` exists and is not a socket; remove it, or choose another path with --socket"
      ),
      (["--socket=\(root)/no/s"], 1, "`~/no/s.lock`: cannot be opened: no such file or directory"),
      (
        ["--socket=\(root)/\(long)"], 2,
        "`~/\(long)` is too long for a socket; choose a shorter path with --socket"
      ),
      (["--port=\(port)"], 1, "cannot listen on port \(port) of 127.0.0.1: address already in use"),
      (["--port=70000"], 2, "--port takes a number from 0 to 65535, not `70000`"),
      (["--policy=nonsense"], 2, "nonsense"),
      (["--network=lan"], 2, "lan"),
      (["--set=x"], 2, "--set x: expected a fact and its value, such as `always-original=yes`"),
      (["--nonsense"], 2, "`--nonsense` is not an option with a value"),
      (["--nonsense=1"], 2, "unknown option `--nonsense`"),
    ]
    for (arguments, status, words) in rows {
      let run = try refused(arguments, in: root)
      #expect(run.status == status, "\(arguments)")
      #expect(run.errors.contains(words), "\(arguments): \(run.errors)")
      #expect(run.errors.hasPrefix("feedimg: ") && run.errors.count { $0 == "\n" } == 1, "\(run.errors)")
    }
    // The refused path has no files beside it.
    let names = try FileManager.default.contentsOfDirectory(atPath: root)
    #expect(names.filter { $0.hasSuffix(".lock") } == [])
    #expect(
      try String(decoding: Data(contentsOf: URL(filePath: "\(root)/file")), as: UTF8.self) == "precious"
    )
    let homeless = try refused([], in: root, ["HOME": root])
    #expect(homeless.status == 2 && homeless.errors.contains("$XDG_RUNTIME_DIR is not set"))
  }

  @Test func `a service that cannot listen also warns about the settings`() throws {
    let service = try ServiceRun()
    let folder = "\(service.root)/config/feedimg"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Data("{".utf8).write(to: URL(filePath: "\(folder)/settings.json"))
    let lines = try refused([], in: service.root).errors.split(separator: "\n")
    #expect(lines.count == 2 && lines.first?.hasPrefix("feedimg: ~/config/feedimg/settings.json:") == true)
    #expect(lines.last?.contains("another `feedimg serve` already listens") == true, "\(lines)")
  }

  @Test func `over TCP the token in the file gives access, and the file is kept`() throws {
    let service = try ServiceRun(["--port=0"])
    let file = "\(service.root)/config/feedimg/service-token"
    let url = String(service.errors.split(separator: "\n")[0].dropFirst("feedimg: serving on ".count))
    #expect(service.errors.contains("clients need the token in \(file)\n"))
    #expect(mode(of: file) == S_IFREG | 0o600)
    #expect(mode(of: service.socket) == nil, "a port replaces the socket")
    let token = try String(decoding: Data(contentsOf: URL(filePath: file)), as: UTF8.self)
    func ask(_ arguments: String...) throws -> CurlResponse {
      try CurlResponse(of: CurlRun(["\(url)/healthz"] + arguments))
    }
    #expect(try ask().status == 401)
    #expect(try ask("-H", "Authorization: Bearer x").status == 401)
    let right = "Authorization: Bearer \(token.dropLast())"
    #expect(try ask("-H", right).status == 200)
    #expect(try ask("-H", right, "-H", "Host: evil.example").status == 403)
    #expect(try ask("-H", right, "-H", "Origin: http://evil.example").status == 403)

    let next = try ServiceRun(["--port=0", "--no-token", "--socket=\(service.socket)"], besides: service)
    #expect(try next.curl("/healthz").status == 200)
    #expect(try String(decoding: Data(contentsOf: URL(filePath: file)), as: UTF8.self) == token)
  }

  @Test func `running requests are completed before the service ends`() async throws {
    let gate = Gate()
    let origin = try LoopbackServer { _ in
      Reply([
        .wait(gate),
        .send(Reply.head(200, [("Content-Length", String(SampleImage.jpeg.count))]) + SampleImage.jpeg),
      ])
    }
    let service = try ServiceRun(["--network=wifi"])
    let (events, image) = (
      try service.request(["/v1/events"]),
      try service.request(["/v1/image", "--json", #"{"originalImage":"\#(origin.url("/a.jpg"))"}"#])
    )
    await origin.reaches { $0.count(of: "/a.jpg") == 1 }
    service.signal(SIGTERM)
    #expect(service.notice().hasPrefix("STOPPING=1"))
    // Event streams would never end by themselves.
    _ = events.rest()
    gate.open()
    #expect(try CurlResponse(of: image).body == SampleImage.jpeg)
    #expect(service.end() == 0)
  }

  @Test(arguments: [SIGINT, SIGTERM])
  func `a second signal ends the service at once, and the received bytes count`(_ signal: Int32) throws {
    let gate = Gate()
    let picture = PictureOrigin.picture(1, size: 400_000)
    // A proxy, because traffic from this machine itself does not count.
    let proxy = try LoopbackServer { _ in .stalled(picture, after: 200_000, until: gate) }
    let service = try ServiceRun(["--network=wifi"], environment: ["http_proxy": proxy.url("/")])
    let item = #"{"originalImage":"http://pictures.example/a.jpg"}"#
    let image = try service.request(["/v1/image", "--json", item])
    #expect(image.block()?.hasPrefix("HTTP/1.1 200") == true)
    #expect(image.take(100_000).count == 100_000)
    service.signal(signal)
    #expect(service.notice().hasPrefix("STOPPING=1"))
    service.signal(signal)
    #expect(service.end() == 1)
    // A client waited for the image until now.
    _ = image.rest()
    let usage = try Usage(ImageLoader.Configuration(environment: ["HOME": service.root])).report()
    #expect(usage.total.transfers == 1, "\(usage.json)")
    gate.open()
  }

  @Test func `a hang-up signal reloads the policy and notifies the service manager`() throws {
    let service = try ServiceRun()
    service.signal(SIGHUP)
    #expect(service.notice().hasPrefix("RELOADING=1\nMONOTONIC_USEC="))
    #expect(service.notice().hasPrefix("READY=1"))
    #expect(try service.curl("/healthz").status == 200)
  }

  @Test func `an invalid edit is logged at once, and the last valid version stays in force`() throws {
    let files = try TemporaryFolder()
    let (log, items) = (files["log"], files["items.json"])
    #expect(mkfifo(log, 0o600) == 0)
    // Opened before the service writes to it, which would otherwise wait for a reader.
    let end = open(log, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    let wrapper = ["/bin/sh", "-c", #"exec "$@" 2>"$LOG""#, "sh"]
    try Data("[]".utf8).write(to: URL(filePath: items))
    let service = try ServiceRun(["--items=\(items)"], wrapper: wrapper, environment: ["LOG": log])
    _ = fcntl(end, F_SETFL, 0)
    let lines = try #require(fdopen(end, "r"))
    defer { fclose(lines) }
    /// The next line of the log about a file.
    func warning(about file: String) -> String? {
      var line = [CChar](repeating: 0, count: 4096)
      while fgets(&line, Int32(line.count), lines) != nil {
        let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        if text.contains(file) { return text }
      }
      return nil
    }
    let folder = "\(service.root)/config/feedimg"
    func write(_ text: String, to name: String) throws {
      try Data(text.utf8).write(to: URL(filePath: "\(folder)/\(name)"), options: .atomic)
    }
    let patch = #"{"data-saver":true,"download-limit":"5 MB"}"#
    let valid = try service.curl("/v1/settings", "-X", "PATCH", "--json", patch).object
    #expect(valid["data-saver"] == true)

    try write(#"{"data-saver": true "x": 1}"#, to: "settings.json")
    let settings = warning(about: "settings.json")
    #expect(settings?.hasSuffix("; the earlier settings stay in force\n") == true, "\(settings ?? "none")")
    #expect(try service.curl("/v1/settings").object == valid)
    try write(#"{"data-saver": "x", "download-limit": "5 MB"}"#, to: "settings.json")
    let member = warning(about: "settings.json")
    #expect(member?.hasSuffix("; feedimg uses the default no\n") == true, "\(member ?? "none")")
    #expect(try service.curl("/v1/settings").object["download-limit"] == "5 MB")

    try FileManager.default.createDirectory(atPath: "\(folder)/policies", withIntermediateDirectories: true)
    try write("no table", to: "policies/default.md")
    let policy = warning(about: "default.md")
    #expect(policy?.hasSuffix(" stays in force\n") == true, "\(policy ?? "none")")

    let feed = #"[{"originalImage":"http://x.example/a"},{"originalImage":"a"}]"#
    try Data(feed.utf8).write(to: URL(filePath: items), options: .atomic)
    let item = warning(about: items)
    #expect(item?.contains(": item 2, `originalImage`: ") == true, "\(item ?? "none")")
  }

  @Test func `the service manager's watchdog is notified`() throws {
    let service = try ServiceRun(environment: ["WATCHDOG_USEC": "100000"])
    #expect(service.notice() == "WATCHDOG=1")
    #expect(service.notice() == "WATCHDOG=1")
  }

  @Test func `a socket from the service manager is served`() throws {
    let path = "/tmp/feedimg-\(UUID().uuidString).sock"
    defer { unlink(path) }
    // Python opens the socket, passes it first, and becomes the service.
    let script = """
      import os, socket, sys
      s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(8)
      os.dup2(s.fileno(), 3); os.set_inheritable(3, True)
      os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1")
      os.execv(sys.argv[2], sys.argv[2:])
      """
    let service = try ServiceRun(wrapper: ["/usr/bin/python3", "-c", script, path])
    #expect(service.errors == "feedimg: serving on \(path)\n")
    #expect(try CurlResponse(of: CurlRun(["--unix-socket", path, "http://localhost/healthz"])).status == 200)
    #expect(mode(of: service.socket) == nil)
    service.signal(SIGTERM)
    #expect(service.end() == 0)
    #expect(mode(of: path) != nil, "a socket of the service manager is not removed")
  }

  @Test(arguments: [
    ("127.0.0.1", "127.0.0.1"), ("::1", "[::1]"), ("0.0.0.0", nil), ("127.0.0.2", nil), ("::", nil),
  ])
  func `a port from the service manager is served on this machine alone`(
    _ host: String,
    _ shown: String?
  ) throws {
    // A free port of the address, which is printed.
    let script = """
      import os, socket, sys
      s = socket.socket(socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET)
      s.bind((sys.argv[1], 0)); s.listen(8)
      os.dup2(s.fileno(), 3); os.set_inheritable(3, True)
      os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1")
      os.execv(sys.argv[2], sys.argv[2:])
      """
    let wrapper = ["/usr/bin/python3", "-c", script, host]
    guard let shown else {
      let failure = #expect(throws: RunFailure.self) { try ServiceRun(wrapper: wrapper) }
      #expect(failure?.message.contains("passed a socket on \(host) port ") == true)
      #expect(failure?.message.contains("only 127.0.0.1 and ::1 are served") == true)
      return
    }
    let service = try ServiceRun(["--no-token"], wrapper: wrapper)
    let url = String(service.errors.split(separator: "\n")[0].dropFirst("feedimg: serving on ".count))
    #expect(url.hasPrefix("http://\(shown):"))
    #expect(try CurlResponse(of: CurlRun(["-g", "\(url)/healthz"])).status == 200)
  }
}
