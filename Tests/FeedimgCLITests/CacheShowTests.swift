import FeedimgJSON
import LoopbackServer
import Testing

/// `feedimg cache show`, and how loads treat stale images, as a user runs them.
@Suite struct CacheShowTests {
  private static let fields = [("ETag", "\"1\""), ("Cache-Control", "max-age=600"), ("Vary", "Accept")]

  private func cached(
    _ fields: [(String, String)] = fields
  ) throws -> (TestFolder, PictureOrigin, String, String) {
    let folder = try TestFolder()
    let origin = try PictureOrigin(SampleImage.jpeg, fields)
    let item = try folder.write(
      "item.json",
      LoadTests.item(origin.server, original: "/a.jpg", thumbnail: nil)
    )
    let run = try CommandRun(["load", "--item", item, "--network", "wifi"], in: folder)
    #expect(run.status == 0, "\(run.errors)")
    return (folder, origin, item, origin.server.url("/a.jpg"))
  }

  @Test func `an image is shown with its freshness rule, its fields and the next action of a load`() throws {
    let (folder, _, _, url) = try cached()
    let run = try CommandRun(["cache", "show", url], in: folder)
    #expect(run.status == 0, "\(run.errors)")
    for words in [
      "original, fresh for ", "max-age=600 (RFC 9111 §5.2.2.1)", "shows it without a request",
      "If-None-Match: \"1\" (strong)", "chosen by   Accept: image/avif", "field       ETag: \"1\"",
    ] {
      #expect(run.output.contains(words), "\(run.output)")
    }
    let json = try #require(try CommandRun(["cache", "show", "--json", url], in: folder).objects.first)
    guard case .object(let freshness)? = json["freshness"] else {
      Issue.record("no freshness")
      return
    }
    #expect(freshness["state"] == "fresh")
    #expect(freshness["rule"] == "max-age=600 (RFC 9111 §5.2.2.1)")
    #expect(json["nextLoad"] == "show")
    #expect(json["lifetime"] == 600)
    #expect(json["conditions"] == [["name": "If-None-Match", "value": "\"1\""]])
  }

  @Test func `an old response is stale from the start, and the next load would revalidate it`() throws {
    let (folder, _, _, url) = try cached([("Cache-Control", "max-age=60"), ("Age", "300")])
    let run = try CommandRun(["cache", "show", url], in: folder)
    #expect(run.output.contains("original, stale for 4 min"), "\(run.output)")
    #expect(run.output.contains("the server sends the complete image again"), "\(run.output)")
  }

  @Test func `an uncached image is reported with exit 1, and an invalid URL with exit 2`() throws {
    let folder = try TestFolder()
    let missing = try CommandRun(["cache", "show", "https://x.example/a"], in: folder)
    #expect(missing.status == 1)
    #expect(missing.errors == "feedimg: `https://x.example/a` is not in the cache\n")
    #expect(try CommandRun(["cache", "show", "a.jpg"], in: folder).status == 2)
    #expect(try CommandRun(["cache", "show"], in: folder).status == 2)
  }

  @Test func `the size of an interrupted transfer is reported`() throws {
    let folder = try TestFolder()
    let picture = PictureOrigin.picture(1, size: 200_000)
    let origin = try PictureOrigin(picture, [("ETag", "\"1\""), ("Accept-Ranges", "bytes")])
    let item = try folder.write(
      "item.json",
      LoadTests.item(origin.server, original: "/a.jpg", thumbnail: nil)
    )
    // As many attempts as one load makes.
    origin.cut(after: 120_000, 0, 0, 0, 0, 0, 0, 0)
    let broken = try CommandRun(["load", "--item", item, "--network", "wifi"], in: folder)
    #expect(broken.status == 1)
    let shown = try CommandRun(["cache", "show", origin.server.url("/a.jpg")], in: folder)
    #expect(
      shown.errors.contains("is not in the cache; 120 kB of an interrupted download is"),
      "\(shown.errors)"
    )
    origin.cut()
    let output = folder.path("out.jpg")
    let whole = try CommandRun(["load", "--item", item, "--network", "wifi", "--output", output], in: folder)
    #expect(whole.status == 0, "\(whole.errors)")
    #expect(try TestFolder.bytes(of: output) == picture)
    #expect(origin.requests.last?["Range"] == "bytes=120000-")
  }

  @Test func `a reload revalidates a fresh image and prints the current one`() throws {
    let (folder, origin, item, _) = try cached()
    let same = try CommandRun(
      ["load", "--reload", "--json", "--item", item, "--network", "wifi"],
      in: folder
    )
    #expect(try same.objects.first?["source"] == "cache")
    #expect(origin.requests.last?["If-None-Match"] == "\"1\"")
    origin.version = .init(SampleImage.png, [("ETag", "\"2\"")])
    let new = try CommandRun(["load", "--reload", "--json", "--item", item, "--network", "wifi"], in: folder)
    #expect(try new.objects.first?["source"] == "network")
    #expect(try new.objects.first?["mediaType"] == "image/png")
    let offline = try CommandRun(["load", "--reload", "--item", item, "--network", "offline"], in: folder)
    #expect(offline.status == 0)
    #expect(offline.errors.contains("not revalidated: it would not be fetched now (offline)"))
  }
}
