import FeedimgJSON
import Glibc
import LoopbackServer
import Testing

/// `feedimg load` as a user runs it, with a real server.
@Suite struct LoadTests {
  /// Serves an original, a thumbnail and failures.
  static func makeServer() throws -> LoopbackServer {
    try LoopbackServer { request in
      switch request.target {
      case "/original.jpg": .response(200, [("Content-Type", "image/jpeg")], body: SampleImage.jpeg)
      case "/thumbnail.webp": .response(200, [("Content-Type", "image/webp")], body: SampleImage.webp)
      case "/mislabelled": .response(200, [("Content-Type", "text/plain")], body: SampleImage.png)
      case "/no-store": .response(200, [("Cache-Control", "no-store")], body: SampleImage.gif)
      case "/page":
        .response(200, [("Content-Type", "text/html")], body: Array("<!doctype html><p>hello".utf8))
      case "/empty": .response(200, [("Content-Type", "image/png")])
      case "/400": .response(400)
      case "/500": .response(500)
      case "/short": .truncated(SampleImage.jpeg, after: 100)
      case "/cut": .closing(body: Array(SampleImage.jpeg.dropLast(20)))
      case "/cut-gzip":
        .response(
          200,
          [("Content-Encoding", "gzip")],
          body: beginningOfGzip(of: SampleImage.jpeg.dropLast(20))
        )
      case "/loop": .redirect(to: "/loop")
      case "/to-file": .redirect(to: "file:///etc/passwd")
      case "/moved": .redirect(to: "/original.jpg")
      case "/big":
        .response(
          200,
          [("Content-Type", "image/jpeg")],
          body: SampleImage.jpeg + Array(repeating: 0, count: 5000)
        )
      default: .response(404)
      }
    }
  }

  /// A gzip stream that ends within one uncompressed block (RFC 1951, §3.2.4).
  private static func beginningOfGzip(of bytes: [UInt8]) -> [UInt8] {
    let count = UInt16(bytes.count)
    let lengths = [count, ~count].flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
    return [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0] + lengths + bytes
  }

  static func item(_ server: LoopbackServer, original: String?, thumbnail: String?) -> String {
    var object = JSONObject()
    if let original { object["originalImage"] = .string(server.url(original)) }
    if let thumbnail { object["thumbnailImage"] = .string(server.url(thumbnail)) }
    object["placeholder"] = ["color": "#102030", "blurhash": "L00000fQfQfQfQfQfQfQfQfQfQfQ"]
    return JSONValue.object(object).text(.compact)
  }

  @Test func `the first load fetches, and later ones come from the cache, also offline`() throws {
    let (folder, server) = (try TestFolder(), try Self.makeServer())
    let path = try folder.write(
      "item.json",
      Self.item(server, original: "/original.jpg", thumbnail: "/thumbnail.webp")
    )
    func load(_ options: String...) throws -> JSONObject {
      let run = try CommandRun(["load", "--json", "--item", path] + options, in: folder)
      #expect(run.status == 0, "\(run.errors)")
      return try #require(try run.objects.first)
    }
    let first = try load("--network", "cellular")
    #expect(first["variant"] == "thumbnail")
    #expect(first["source"] == "network")
    #expect(first["mediaType"] == "image/webp")
    #expect(first["bytes"] == .integer(SampleImage.webp.count))
    #expect(try TestFolder.bytes(of: try #require(first["path"]?.text)) == SampleImage.webp)

    let offline = try load("--network", "offline")
    #expect(offline["variant"] == "thumbnail")
    #expect(offline["source"] == "cache")

    let second = try load("--network", "wifi")
    #expect(second["variant"] == "original")
    #expect(second["source"] == "network")
    let third = try load("--network", "cellular")
    #expect(third["variant"] == "original", "a cached original is used on any network")
    #expect(third["source"] == "cache")
    #expect(try load("--network", "offline")["variant"] == "original")
    #expect(server.log.requests.map(\.target) == ["/thumbnail.webp", "/original.jpg"])
  }

  @Test func `offline with an empty cache the placeholder is shown, with exit 3`() throws {
    let (folder, server) = (try TestFolder(), try Self.makeServer())
    let path = try folder.write(
      "item.json",
      Self.item(server, original: "/original.jpg", thumbnail: "/thumbnail.webp")
    )
    let json = try CommandRun(["load", "--json", "--item", path, "--network", "offline"], in: folder)
    #expect(json.status == 3)
    let object = try #require(try json.objects.first)
    #expect(object["image"] == "placeholder")
    #expect(object["placeholder"] == ["blurhash": "L00000fQfQfQfQfQfQfQfQfQfQfQ", "color": "#102030"])
    let text = try CommandRun(["load", "--item", path, "--network", "offline"], in: folder)
    #expect(text.status == 3)
    #expect(text.output.contains("placeholder") && text.output.contains("#102030"))
    #expect(server.log.requests.isEmpty)
  }

  @Test func `--header sends a field to the one origin of the images`() throws {
    let (folder, server) = (try TestFolder(), try Self.makeServer())
    let load = ["load", server.url("/original.jpg"), "--network", "wifi"]
    let run = try CommandRun(load + ["--header", "X-A: b:c", "--header", "Authorization: ann"], in: folder)
    #expect(run.status == 0, "\(run.errors)")
    #expect(server.log.requests.map { $0["X-A"] } == ["b:c"])
    #expect(server.log.requests.map { $0["Authorization"] } == ["ann"])
    #expect(try CommandRun(load, in: folder).status == 0)
    #expect(server.log.requests.count == 2, "another program does not get ann's image")
  }

  @Test func `--header is refused without a value and for images of several origins`() throws {
    let (folder, server, other) = (try TestFolder(), try Self.makeServer(), try Self.makeServer())
    let load = ["load", server.url("/original.jpg"), other.url("/original.jpg"), "--network", "wifi"]
    let mixed = try CommandRun(load + ["--header", "Authorization: secret"], in: folder)
    #expect(mixed.status == 2 && mixed.errors.contains("--header: expected images of one origin"))
    #expect(!mixed.errors.contains("secret"))
    let bare = try CommandRun(load + ["--header", "secret"], in: folder)
    #expect(bare.status == 2 && bare.errors.contains("--header: expected a name and a value"))
    #expect(!bare.errors.contains("secret"))
    for (field, words) in [
      ("Range: bytes=0-9", "--header: feedimg sets `Range` itself"),
      ("a b: secret", "--header: `a b` has an invalid name or value"),
    ] {
      let invalid = try CommandRun(["load", server.url("/original.jpg"), "--header", field], in: folder)
      #expect(invalid.status == 2 && invalid.errors.contains(words), "\(invalid.errors)")
      #expect(!invalid.errors.contains("requests.headers") && !invalid.errors.contains("secret"))
    }
    #expect(server.log.requests.isEmpty && other.log.requests.isEmpty)
  }

  struct Failure: CustomTestStringConvertible {
    var target: String
    var code: String
    var says: String
    var options: [String] = []
    var testDescription: String { target }
  }

  static let failures: [Failure] = [
    Failure(target: "/missing", code: "status", says: "the server responded with 404 Not Found"),
    Failure(target: "/500", code: "status", says: "the server responded with 500 Internal Server Error"),
    Failure(target: "/short", code: "truncated", says: "100 of 312 bytes"),
    Failure(target: "/cut", code: "truncated", says: "the body ended before the image was whole"),
    Failure(target: "/cut-gzip", code: "truncated", says: "the body ended before the image was whole"),
    Failure(target: "/loop", code: "tooManyRedirects", says: "redirect"),
    Failure(target: "/to-file", code: "forbiddenRedirect", says: "file"),
    Failure(
      target: "/page",
      code: "notAnImage",
      says: "the server sent `text/html`, which is not a supported image"
    ),
    Failure(target: "/empty", code: "notAnImage", says: "an empty body"),
    Failure(target: "/big", code: "tooLarge", says: "limit"),
  ]

  @Test(arguments: failures)
  func `a failed fetch gives one sentence and exit 1, and keeps nothing`(failure: Failure) throws {
    let (folder, server) = (try TestFolder(), try Self.makeServer())
    try folder.write("config/feedimg/settings.json", "{\"download-limit\": \"4 kB\"}")
    let path = try folder.write("item.json", Self.item(server, original: failure.target, thumbnail: nil))
    let run = try CommandRun(["load", "--item", path, "--network", "wifi"], in: folder)
    #expect(run.status == 1)
    #expect(run.errors.hasPrefix("feedimg: `\(server.url(failure.target))`: "), "\(run.errors)")
    #expect(run.errors.contains(failure.says), "\(run.errors)")
    #expect(run.errors.split(separator: "\n").count == 1)
    let json = try CommandRun(["load", "--json", "--item", path, "--network", "wifi"], in: folder)
    guard case .object(let error)? = try json.objects.first?["error"] else {
      Issue.record("no error in \(json.output)")
      return
    }
    #expect(error["code"] == .string(failure.code))
    let list = try CommandRun(["cache", "list"], in: folder)
    #expect(list.output == "", "nothing is kept")
    #expect(folder.files(below: "cache").allSatisfy { !$0.contains("bodies/") }, "no body is left behind")
  }

  @Test func `a host that does not respond is named`() throws {
    let folder = try TestFolder()
    let port = try ClosedPort()
    let path = try folder.write("item.json", "{\"originalImage\": \"http://127.0.0.1:\(port.port)/a\"}")
    let run = try CommandRun(["load", "--item", path, "--network", "wifi"], in: folder)
    #expect(run.status == 1)
    #expect(run.errors.contains("connection refused"), "\(run.errors)")
  }

  @Test func `an image is recognised by its bytes, whatever its Content-Type`() throws {
    let (folder, server) = (try TestFolder(), try Self.makeServer())
    let path = try folder.write("item.json", Self.item(server, original: "/mislabelled", thumbnail: nil))
    let run = try CommandRun(["load", "--json", "--item", path, "--network", "wifi"], in: folder)
    #expect(run.status == 0)
    #expect(try run.objects.first?["mediaType"] == "image/png")
  }

  @Test(arguments: [("/missing", "404 Not Found"), ("/400", "400 Bad Request")])
  func `the thumbnail replaces an original that fails, and the output says so`(
    _ original: String,
    _ status: String
  ) throws {
    let (folder, server) = (try TestFolder(), try Self.makeServer())
    let path = try folder.write(
      "item.json",
      Self.item(server, original: original, thumbnail: "/thumbnail.webp")
    )
    let run = try CommandRun(["load", "--json", "--item", path, "--network", "wifi"], in: folder)
    #expect(run.status == 0)
    #expect(try run.objects.first?["image"] == "thumbnail")
    #expect(run.errors.contains("in place of the original: the server responded with \(status)"))
  }

  @Test func `a no-store image is shown and not kept`() throws {
    let (folder, server) = (try TestFolder(), try Self.makeServer())
    let path = try folder.write("item.json", Self.item(server, original: "/no-store", thumbnail: nil))
    for _ in 0..<2 {
      let run = try CommandRun(["load", "--json", "--item", path, "--network", "wifi"], in: folder)
      #expect(run.status == 0)
      #expect(try run.objects.first?["source"] == "network")
      #expect(try run.objects.first?["path"] == .null)
      #expect(run.errors.contains("no-store"))
    }
  }

  @Test func `a cache that cannot be written does not fail the load`() throws {
    let (folder, server) = (try TestFolder(), try Self.makeServer())
    let blocked = try folder.write("blocked", "a file in place of the folder")
    let path = try folder.write("item.json", Self.item(server, original: "/original.jpg", thumbnail: nil))
    let output = folder.path("out.jpg")
    let run = try CommandRun(
      ["load", "--item", path, "--network", "wifi", "--cache-dir", blocked, "--output", output],
      in: folder
    )
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.errors.contains("not kept: "), "\(run.errors)")
    #expect(run.errors.split(separator: "\n").count == 1)
    #expect(try TestFolder.bytes(of: output) == SampleImage.jpeg)
  }

  @Test func `the output can be a file or standard output, for one item`() throws {
    let (folder, server) = (try TestFolder(), try Self.makeServer())
    let item = Self.item(server, original: "/moved", thumbnail: nil)
    let path = try folder.write("item.json", item)
    let output = folder.path("out.jpg")
    let toFile = try CommandRun(
      ["load", "--item", path, "--network", "wifi", "--output", output],
      in: folder
    )
    #expect(toFile.status == 0, "\(toFile.errors)")
    #expect(try TestFolder.bytes(of: output) == SampleImage.jpeg)
    let two = try folder.write("two.json", item + item)
    let refused = try CommandRun(["load", "--item", two, "--output", output], in: folder)
    #expect(refused.status == 2)
    #expect(refused.errors.contains("has 2 items"))
    let nowhere = try CommandRun(
      ["load", "--item", path, "--output", folder.path("no/such/x.jpg")],
      in: folder
    )
    #expect(nowhere.status == 2)
    #expect(nowhere.errors.contains("does not exist"))
  }

  @Test func `output through a link writes its target, and links, modes and devices stay`() throws {
    let (folder, server) = (try TestFolder(), try Self.makeServer())
    let path = try folder.write("item.json", Self.item(server, original: "/original.jpg", thumbnail: nil))
    let target = try folder.write("target.jpg", "old")
    chmod(target, 0o600)
    symlink(target, folder.path("link.jpg"))
    func load(_ output: String) throws -> CommandRun {
      try CommandRun(["load", "--item", path, "--network", "wifi", "--output", output], in: folder)
    }
    #expect(try load(folder.path("link.jpg")).status == 0)
    var status = stat()
    #expect(lstat(folder.path("link.jpg"), &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
    #expect(try TestFolder.bytes(of: target) == SampleImage.jpeg)
    #expect(stat(target, &status) == 0 && status.st_mode & 0o777 == 0o600)
    #expect(try load("/dev/null").status == 0)
    #expect(stat("/dev/null", &status) == 0 && status.st_mode & S_IFMT == S_IFCHR)
    let full = try load("/dev/full")
    #expect(full.status == 1)
    #expect(full.errors.contains("no space left on device"), "\(full.errors)")
    #expect(try load("").status == 2)
    #expect(try load(folder.path("item.json/x")).status == 2)
  }

  @Test func `several items with one URL are fetched once`() throws {
    let (folder, server) = (try TestFolder(), try Self.makeServer())
    let item = Self.item(server, original: "/original.jpg", thumbnail: nil)
    let path = try folder.write("items.jsonl", String(repeating: item + "\n", count: 20))
    let run = try CommandRun(["load", "--json", "--item", path, "--network", "wifi"], in: folder)
    #expect(run.status == 0, "\(run.errors)")
    #expect(try run.objects.count == 20)
    #expect(server.log.requests.count == 1)
  }

  @Test func `several items are reported in their order, once each`() throws {
    let (folder, server) = (try TestFolder(), try Self.makeServer())
    let items = (0..<15).map { number in
      Self.item(server, original: number % 3 == 2 ? "/missing" : "/original.jpg", thumbnail: nil)
        .replacing("{", with: "{\"id\": \(number), ", maxReplacements: 1)
    }
    let path = try folder.write("items.jsonl", items.joined(separator: "\n"))
    let run = try CommandRun(["load", "--json", "--item", path, "--network", "wifi"], in: folder)
    #expect(run.status == 1)
    #expect(try run.objects.map { $0["id"]?.text } == (0..<15).map(String.init))
  }

  @Test func `items of a silent host do not delay those of another host`() throws {
    let (folder, gate) = (try TestFolder(), Gate())
    let picture = Reply.response(200, [("Content-Type", "image/jpeg")], body: SampleImage.jpeg)
    let server = try LoopbackServer { request in
      guard request.path == "/other" else { return .held(by: gate, then: picture) }
      gate.open()
      return picture
    }
    let urls = (0..<12).map { server.url("/\($0)") } + ["http://localhost:\(server.port)/other"]
    let path = try folder.write("items.jsonl", urls.map { "{\"originalImage\": \"\($0)\"}\n" }.joined())
    let run = try CommandRun(["load", "--json", "--item", path, "--network", "wifi"], in: folder)
    #expect(run.status == 0, "\(run.errors)")
    #expect(try run.objects.map { $0["url"]?.text } == urls)
  }

  @Test func `of several items the worst decides the exit status`() throws {
    let (folder, server) = (try TestFolder(), try Self.makeServer())
    let good = Self.item(server, original: "/original.jpg", thumbnail: nil)
    let bad = Self.item(server, original: "/missing", thumbnail: nil)
    let path = try folder.write("items.jsonl", [good, bad, good].joined(separator: "\n"))
    let run = try CommandRun(["load", "--item", path, "--network", "wifi"], in: folder)
    #expect(run.status == 1)
    #expect(run.output.contains("1. original") && run.output.contains("3. original"))
  }
}
