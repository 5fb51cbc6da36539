import FeedimgJSON
import Glibc
import LoopbackServer
import Testing

/// `feedimg cache` as a user runs it.
@Suite struct CacheVerbTests {
  let folder: TestFolder
  let server: LoopbackServer

  /// Three images are in the cache, the thumbnail last.
  init() throws {
    folder = try TestFolder()
    server = try LoadTests.makeServer()
    for (original, thumbnail, network) in [
      ("/original.jpg", nil, "wifi"), ("/mislabelled", nil, "wifi"), ("/404", "/thumbnail.webp", "cellular"),
    ] as [(String, String?, String)] {
      let path = try folder.write(
        "item.json",
        LoadTests.item(server, original: original, thumbnail: thumbnail)
      )
      #expect(try CommandRun(["load", "--item", path, "--network", network], in: folder).status == 0)
    }
  }

  func run(_ arguments: String...) throws -> CommandRun { try CommandRun(["cache"] + arguments, in: folder) }

  @Test func `info reports the cached images, and the list has the requested order`() throws {
    let info = try #require(try run("info", "--json").objects.first)
    #expect(info["count"] == .number("3"))
    #expect(info["hits"] != nil && info["bytesOnDisk"] != nil)
    let text = try run().output
    for word in ["originals", "2 images", "thumbnails", "pinned", "on disk", "hit rate", "expiry"] {
      #expect(text.contains(word), "\(text)")
    }
    let sizes = try run("list", "--json", "--sort", "size").objects.map { $0["bytes"]?.integer ?? 0 }
    #expect(sizes == sizes.sorted(by: >) && sizes.count == 3)
    let urls = try run("list", "--json", "--sort", "url", "--reverse", "--limit", "2").objects.compactMap {
      $0["url"]?.text
    }
    #expect(urls == [server.url("/thumbnail.webp"), server.url("/original.jpg")])
    #expect(try run("list", "--only", "thumbnails").output.split(separator: "\n").count == 1)
  }

  @Test func `a pinned image survives a trim to zero`() throws {
    let url = server.url("/original.jpg")
    #expect(try run("pin", url).status == 0)
    #expect(try run("list", "--only", "pinned").output.contains("pinned"))
    let trim = try run("trim", "--to", "0B")
    #expect(trim.output.hasPrefix("removed 2 images, "))
    #expect(trim.output.contains("pinned images ("))
    #expect(try run("list", "--json").objects.first?["pinned"] == .bool(true))
    #expect(try run("unpin", url).status == 0)
    #expect(try run("trim", "--to", "0B", "--json").objects.first?["removed"] == .number("1"))
    let missing = try run("pin", url)
    #expect((missing.status, missing.errors) == (1, "feedimg: `\(url)` is not in the cache\n"))
  }

  @Test func `verify reports its findings and repairs the cache`() throws {
    #expect(try run("verify").output == "3 images intact\n")
    let image = try #require(try run("list", "--json").objects.first { $0["role"] == .string("thumbnail") })
    let path = try #require(image["path"]?.text)
    truncate(path, 10)
    let check = try run("verify")
    #expect(check.status == 0)
    #expect(check.output == "2 images intact\ndamaged, removed: \(server.url("/thumbnail.webp"))\n")
    let json = #"{"whole":2,"removed":[],"damaged":[],"unreadable":[],"restored":0}"#
    #expect(try run("verify", "--json").output == json + "\n")
  }

  @Test(arguments: ["info", "list", "verify", "trim", "clear"])
  func `a file in place of the folder is an error, a missing folder an empty cache`(verb: String) throws {
    let file = try folder.write("blocked", "")
    let blocked = try run(verb, "--cache-dir", file)
    #expect((blocked.status, blocked.output) == (1, ""))
    #expect(blocked.errors.hasSuffix(": not a directory\n"), "\(blocked.errors)")
    let empty = try run(verb, "--cache-dir", folder.path("missing"))
    #expect((empty.status, empty.errors) == (0, ""))
  }

  /// Runs a sample with `tar` of Documentation/cache.md.
  func runSample(_ number: Int, cache: String) throws -> CommandRun {
    let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let page = try TestFolder.text(of: "/\(root)/Documentation/cache.md")
    let samples = page.split(separator: "```").filter { $0.hasPrefix("sh\n") && $0.contains("tar ") }
    let script = String(try #require(samples.dropFirst(number).first).dropFirst(3))
    return try CommandRun(of: "sh", ["-c", script], in: folder, environment: ["XDG_CACHE_HOME": cache])
  }

  @Test func `a folder that tar has moved shows its images and pins offline`() throws {
    let (server, other) = (try LoadTests.makeServer(), folder.path("kiosk"))
    let there = ["XDG_CACHE_HOME": other]
    #expect(try run("pin", self.server.url("/original.jpg")).status == 0)
    let earlier = ["load", server.url("/original.jpg"), "--network", "wifi"]
    #expect(try CommandRun(earlier, in: folder, environment: there).status == 0)

    for (number, cache) in [folder.path("cache"), other].enumerated() {
      let run = try runSample(number, cache: cache)
      #expect(run.status == 0, "\(run.errors)")
    }

    func list(_ environment: [String: String]) throws -> [JSONObject] {
      try CommandRun(["cache", "list", "--json"], in: folder, environment: environment).objects
    }
    let (before, after) = (try list([:]), try list(there))
    #expect(after.count == 3 && after.filter { $0["pinned"] == .bool(true) }.count == 1)
    for name in ["url", "role", "bytes", "mediaType", "storedAt", "usedAt", "pinned"] {
      #expect(after.map { $0[name] } == before.map { $0[name] })
    }
    for path in after.map({ $0["path"]?.text ?? "" }) { #expect(path.hasPrefix("\(other)/feedimg/bodies/")) }
    let check = try CommandRun(["cache", "verify"], in: folder, environment: there)
    #expect(check.output == "3 images intact\n")

    let item = try folder.write(
      "item.json",
      LoadTests.item(self.server, original: "/original.jpg", thumbnail: nil)
    )
    for verb in ["resolve", "load"] {
      let arguments = [verb, "--json", "--item", item, "--network", "offline"]
      let shown = try #require(try CommandRun(arguments, in: folder, environment: there).objects.first)
      #expect(shown["image"] == .string("original") && shown["source"] == .string("cache"), "\(shown)")
    }
  }

  @Test(arguments: [
    (["export", "images.tar"], 2, "export"), (["import", "images.tar"], 2, "import"),
    (["trim", "--to", "much"], 2, "--to: expected a size such as `100 MB`, found `much`"),
    (["pin", "photo.jpg"], 2, "expected an absolute http or https URL"),
    (["list", "--sort", "colour"], 2, "--sort"), (["list", "--limit", "x"], 2, "--limit"),
    (["list", "--limit", "-3"], 2, "--limit: expected a number of at least 0, found `-3`"),
    (["trim", "--to", "-5"], 2, "--to: expected a size such as `100 MB`, found `-5`"),
  ])
  func `invalid arguments are reported`(arguments: [String], status: Int32, says: String) throws {
    let run = try CommandRun(["cache"] + arguments, in: folder)
    #expect(run.status == status)
    #expect(run.errors.contains(says), "\(run.errors)")
  }
}
