import FeedimgJSON
import Glibc
import LoopbackServer
import Synchronization
import Testing

/// `feedimg load` and `prefetch` beside a running service.
@Suite(.timeLimit(.minutes(10))) struct ServiceUseTests {
  /// The images that are loaded.
  ///
  /// The results must be equal in all respects.
  private static let cases: [(original: String?, thumbnail: String?)] = [
    ("/original.jpg", "/thumbnail.webp"), ("/missing", "/thumbnail.webp"), ("/400", "/thumbnail.webp"),
    ("/missing", nil), ("/page", nil),
    ("/empty", nil), ("/short", nil), ("/cut", nil), ("/loop", nil), ("/to-file", nil), ("/moved", nil),
    ("/no-store", nil), ("/mislabelled", nil),
  ]

  /// A run without the details that differ each time.
  private static func outline(_ run: CommandRun, _ folder: TestFolder) throws -> [String] {
    let output = try run.objects.map { object in
      var object = object
      // Times, and the random part of names.
      for name in ["path", "freshness"] { object[name] = .string("") }
      return JSONValue.object(object).text(.compact)
    }
    return output + [run.errors.replacing(folder.root, with: ""), "exit \(run.status)"]
  }

  @Test func `a load prints and does the same with the service as without it`() throws {
    let server = try LoadTests.makeServer()
    for (original, thumbnail) in Self.cases {
      let item = LoadTests.item(server, original: original, thumbnail: thumbnail)
      var outlines: [[String]] = []
      for usesService in [true, false] {
        let folder = try TestFolder()
        let service = usesService ? try ServiceProcess(in: folder) : nil
        let path = try folder.write("item.json", item)
        let run = try CommandRun(
          ["load", "--json", "--item", path, "--network", "wifi"],
          in: folder,
          environment: ["XDG_RUNTIME_DIR": folder.root]
        )
        outlines.append(try Self.outline(run, folder))
        withExtendedLifetime(service) {}
      }
      #expect(outlines[0] == outlines[1], "\(original ?? "")")
    }
  }

  @Test func `the service loads the image, which is then in the shared cache`() throws {
    let (folder, server) = (try TestFolder(), try LoadTests.makeServer())
    let service = try ServiceProcess(in: folder)
    let path = try folder.write(
      "item.json",
      LoadTests.item(server, original: "/original.jpg", thumbnail: nil)
    )
    func load(_ options: String...) throws -> CommandRun {
      try CommandRun(
        ["load", "--json", "-v", "--network", "wifi", "--item", path] + options,
        in: folder,
        environment: ["XDG_RUNTIME_DIR": folder.root]
      )
    }
    let cold = try load()
    #expect(cold.errors == "feedimg: 1 image loaded by the service at `\(folder.root)/feedimg.sock`\n")
    #expect(try cold.objects.first?["source"] == "network")
    let file = try #require(try cold.objects.first?["path"]?.text)
    #expect(try TestFolder.bytes(of: file) == SampleImage.jpeg)
    let warm = try load()
    #expect(warm.errors == "")
    #expect(try warm.objects.first?["source"] == "cache")
    #expect(server.log.requests.map { $0["User-Agent"] } == ["feedimg"])
    withExtendedLifetime(service) {}
  }

  @Test func `without a service, or with another cache, the command loads by itself`() throws {
    let (folder, server) = (try TestFolder(), try LoadTests.makeServer())
    let path = try folder.write(
      "item.json",
      LoadTests.item(server, original: "/original.jpg", thumbnail: nil)
    )
    func load(_ options: String...) throws -> CommandRun {
      try CommandRun(
        ["load", "-v", "--network", "wifi", "--item", path] + options,
        in: folder,
        environment: ["XDG_RUNTIME_DIR": folder.root]
      )
    }
    let absent = try load("--cache-dir", folder.path("a"))
    #expect(absent.status == 0)
    #expect(absent.errors.contains("it is not running"))
    let service = try ServiceProcess(in: folder)
    let elsewhere = try load("--cache-dir", folder.path("b"))
    #expect(elsewhere.status == 0)
    #expect(elsewhere.errors.contains("the service keeps its images in `\(folder.path("cache"))/feedimg`"))
    let unwanted = try load("--cache-dir", folder.path("c"), "--no-service")
    #expect((unwanted.status, unwanted.errors) == (0, ""))
    service.kill()
    let dead = try load("--cache-dir", folder.path("d"))
    #expect(dead.status == 0)
    #expect(dead.errors.contains("not loaded by the service"))
  }

  private static func prefetch(
    _ path: String,
    in folder: TestFolder,
    _ options: String...
  ) throws -> CommandRun {
    try CommandRun(
      ["prefetch", path, "--json", "-v", "--network", "wifi"] + options,
      in: folder,
      environment: ["XDG_RUNTIME_DIR": folder.root]
    )
  }

  @Test func `a prefetch keeps its limit with the service as without it`() throws {
    let size = 300_000
    let picture = SampleImage.jpeg + [UInt8](repeating: 0, count: size - SampleImage.jpeg.count)
    let server = try LoopbackServer { _ in .response(200, [("Content-Type", "image/jpeg")], body: picture) }
    let folder = try TestFolder()
    let service = try ServiceProcess(in: folder)
    let items = (0..<12).map { LoadTests.item(server, original: "/\($0)", thumbnail: nil) }
    let path = try folder.write("items.jsonl", items.joined(separator: "\n"))
    let run = try Self.prefetch(path, in: folder, "--limit", "1MB")
    #expect(run.errors.contains("3 images loaded by the service"), "\(run.errors)")
    #expect(try run.objects.last?["fetched"] == 3)
    #expect(try run.objects.last?["bytes"] == .integer(3 * size))
    withExtendedLifetime(service) {}
  }

  @Test func `a prefetch pays nothing for images that the service has`() throws {
    let size = 300_000
    let picture = SampleImage.jpeg + [UInt8](repeating: 0, count: size - SampleImage.jpeg.count)
    let fields = [("Content-Type", "image/jpeg"), ("Cache-Control", "max-age=600")]
    let server = try LoopbackServer { _ in .response(200, fields, body: picture) }
    let folder = try TestFolder()
    let service = try ServiceProcess(in: folder)
    let items = (0..<6).map { LoadTests.item(server, original: "/\($0)", thumbnail: nil) }
    let path = try folder.write("items.jsonl", items.joined(separator: "\n"))
    let cold = try Self.prefetch(path, in: folder)
    #expect(try cold.objects.last?["bytes"] == .integer(6 * size))
    // The service still has them in memory, as only clearing the cache empties that.
    #expect(try CommandRun(of: "/bin/rm", ["-r", folder.path("cache")], in: folder).status == 0)
    let warm = try Self.prefetch(path, in: folder, "--limit", "1MB")
    #expect(warm.errors.contains("6 images loaded by the service"), "\(warm.errors)")
    #expect(try warm.objects.last?["cached"] == 6)
    #expect(try warm.objects.last?["bytes"] == 0)
    #expect(server.log.requests.count == 6)
    withExtendedLifetime(service) {}
  }

  @Test func `a prefetch shares downloads with a service`() throws {
    let (folder, server) = (try TestFolder(), try LoadTests.makeServer())
    let service = try ServiceProcess(in: folder)
    let items = ["/original.jpg", "/moved", "/missing"].map {
      LoadTests.item(server, original: $0, thumbnail: nil)
    }
    let path = try folder.write("items.jsonl", items.joined(separator: "\n"))
    let run = try Self.prefetch(path, in: folder)
    #expect(run.status == 1)
    #expect(run.errors.contains("2 images loaded by the service"))
    #expect(try run.objects.last?["fetched"] == 2)
    #expect(try run.objects.last?["bytes"] == .integer(2 * SampleImage.jpeg.count))
    withExtendedLifetime(service) {}
  }
}

/// `feedimg-serve` beside the commands of a test, in their folders.
private final class ServiceProcess: Sendable {
  private let process: pid_t
  private let isKilled = Atomic(false)

  /// Returns when the service listens.
  init(in folder: TestFolder) throws {
    let notices = folder.path("notices")
    let listener = try Self.listen(at: notices)
    defer { close(listener) }
    let command = [
      CommandRun.besideTests("feedimg-serve"), "--allow-private", "--network=wifi",
    ]
    let variables = [
      "HOME": folder.path(""), "XDG_CACHE_HOME": folder.path("cache"),
      "XDG_CONFIG_HOME": folder.path("config"),
      "XDG_RUNTIME_DIR": folder.root, "NOTIFY_SOCKET": notices,
    ]
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for number in [0, 1, 2] as [Int32] {
      posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0)
    }
    var words = command.map { strdup($0) } + [nil]
    var names = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for word in words + names { free(word) } }
    var process = pid_t()
    let code = posix_spawn(&process, command[0], &actions, nil, &words, &names)
    guard code == 0 else { throw RunError(message: "cannot run \(command[0]): \(code)") }
    self.process = process
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = recv(listener, &bytes, bytes.count, 0)
    guard count > 0 else { throw RunError(message: "the service did not get ready") }
  }

  deinit { kill() }

  /// Kills it, and returns when it has ended.
  func kill() {
    guard !isKilled.exchange(true, ordering: .relaxed) else { return }
    Glibc.kill(process, SIGKILL)
    while waitpid(process, nil, 0) < 0, errno == EINTR {}
  }

  private static func listen(at path: String) throws -> Int32 {
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let isBound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
    guard isBound else { throw RunError(message: "cannot bind \(path)") }
    return descriptor
  }
}
