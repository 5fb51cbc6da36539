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
    #expect(try run("verify", "--json").output.hasPrefix("{\"whole\":2,\"removed\":[],"))
  }

  @Test func `one machine exports images and another imports them offline`() throws {
    let archive = folder.path("images.tar")
    let exported = try run("export", archive)
    #expect(exported.output.hasPrefix("exported 3 images, "), "\(exported.errors)")
    let kiosk = folder.path("kiosk")
    let imported = try run("import", archive, "--cache-dir", kiosk)
    #expect(imported.output.hasPrefix("imported 3 images, "), "\(imported.errors)")
    #expect(
      try run("import", archive, "--cache-dir", kiosk, "--json").objects.first?["present"] == .number("3")
    )
    let path = try folder.write(
      "item.json",
      LoadTests.item(server, original: "/original.jpg", thumbnail: nil)
    )
    let shown = try CommandRun(
      ["load", "--json", "--item", path, "--network", "offline", "--cache-dir", kiosk],
      in: folder
    )
    #expect(try shown.objects.first?["source"] == .string("cache"))
    let piped = try run("export", "-")
    #expect(piped.status == 0)
  }

  private static let longName = String(repeating: "a", count: 300)

  @Test(arguments: [
    (["import", "nothing.tar"], 2, "cannot read `nothing.tar`: no such file or directory"),
    (["import", "/dev/null"], 2, "`/dev/null` ends too early: it was cut off"),
    (["export", "nowhere/images.tar"], 2, "the folder `nowhere` does not exist"),
    (["export", "\(longName)/images.tar"], 2, "cannot write: file name too long"),
    (["export", "-", "--json"], 2, "--json: cannot be used when the archive goes to standard output"),
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
