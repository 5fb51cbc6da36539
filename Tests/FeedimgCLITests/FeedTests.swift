import FeedimgJSON
import Testing

/// Feeds, responses and pages in place of items.
@Suite struct FeedTests {
  private static let rss = """
    <rss><channel><item><guid>1</guid><enclosure url="http://127.0.0.1:1/a" type="image/png"/></item>
    <item><guid>bad</guid><enclosure url="ftp://x.example/b" type="image/png"/></item>
    <item><enclosure url="http://127.0.0.1:1/c" type="image/png"/></item></channel></rss>
    """
  private static let status = """
    {"id": "9", "media_attachments": [{"id": "1", "type": "image", "url": "http://127.0.0.1:1/a",
     "preview_url": "http://127.0.0.1:1/b"}]}
    """

  @Test func `the pictures of a feed are items, a line each`() throws {
    let folder = try TestFolder()
    let path = try folder.write("timeline.json", "[\(Self.status), \(Self.status)]")
    for arguments in [
      ["items", path], ["items", path, "--from", "mastodon", "--strict"], ["items", "--from=auto"],
    ] {
      let run = try CommandRun(arguments, in: folder, environment: ["TEST_STDIN": path])
      #expect(run.status == 0)
      #expect(run.errors == "")
      #expect(run.output.split(separator: "\n").count == 2)
      #expect(
        try run.objects.map { $0["originalImage"] } == ["http://127.0.0.1:1/a", "http://127.0.0.1:1/a"]
      )
      #expect(
        try run.objects.map { $0["thumbnailImage"] } == ["http://127.0.0.1:1/b", "http://127.0.0.1:1/b"]
      )
    }
  }

  @Test func `items are their own feed, and keep kind and variants`() throws {
    let folder = try TestFolder()
    let line =
      #"{"id":"7","kind":"avatar","originalImage":null,"thumbnailImage":"http://x.example/a","#
      + #""variants":[{"role":"thumbnail","url":"http://x.example/a","width":48}],"alt":"A"}"#
    let path = try folder.write("items.jsonl", "\(line)\n\(line)\n")
    let run = try CommandRun(["items", path], in: folder)
    #expect(run.output == "\(line)\n\(line)\n")
    #expect(run.status == 0)
    let other = try folder.write("other.json", #"{"kind":"Listing","originalImage":"http://x.example/a"}"#)
    #expect(try CommandRun(["items", other], in: folder).objects.first?["kind"] == nil)
  }

  @Test(arguments: ["items", "resolve", "load", "prefetch"])
  func `a bad entry among good ones is skipped with a warning, and --strict refuses it`(verb: String) throws {
    let folder = try TestFolder()
    let path = try folder.write("feed.xml", Self.rss)
    let options = verb == "items" ? [] : ["--network", "offline"]
    let run = try CommandRun([verb, path] + options, in: folder)
    #expect(run.status == 1)
    let warning = "feedimg: \(path): entry 2 (`bad`): `enclosure url`: expected an http or https URL"
    #expect(run.errors.hasPrefix(warning), "\(run.errors)")
    switch verb {
    case "prefetch": #expect(run.output.hasPrefix("2 items: "), "\(run.output)")
    case "items": #expect(try run.objects.map { $0["id"] } == ["1", nil])
    default: break
    }
    let strict = try CommandRun([verb, path, "--strict", "--from", "rss"] + options, in: folder)
    #expect(strict.status == 2)
    #expect(strict.output == "")
    #expect(strict.errors.hasPrefix(warning), "\(strict.errors)")
    #expect(strict.errors.split(separator: "\n").count == 1)
  }

  @Test func `resolve reads a feed directly and through items, with the same decisions`() throws {
    let folder = try TestFolder()
    let path = try folder.write("status.json", Self.status)
    let lines = try CommandRun(["items", path], in: folder).output
    let items = try folder.write("items.jsonl", lines)
    let runs = try [path, items].map {
      try CommandRun(["resolve", $0, "--json", "--network", "cellular"], in: folder)
    }
    #expect(runs.map(\.status) == [0, 0])
    #expect(runs[0].output == runs[1].output)
    #expect(try runs[0].objects.first?["image"] == "thumbnail")
  }

  @Test func `relative URLs need the address of the document`() throws {
    let folder = try TestFolder()
    let page = try folder.write("page.html", "<!doctype html><img src='a.jpg'>")
    let run = try CommandRun(["items", page, "--base", "http://x.example/b/"], in: folder)
    #expect(try run.objects.first?["originalImage"] == "http://x.example/b/a.jpg")
    let alone = try CommandRun(["items", page], in: folder)
    #expect(alone.status == 2)
    #expect(alone.errors.contains("`a.jpg` is relative, and the document has no base URL"), "\(alone.errors)")
    let file = try CommandRun(["items", page, "--base", "page.html"], in: folder)
    #expect(file.errors == "feedimg: --base: expected an http or https URL, but `page.html` is relative\n")
    #expect(file.status == 2)
  }

  @Test(arguments: [
    ("<rss><channel>\n<item>", "auto", ":2: not XML: "), ("[\(status)", "mastodon", ":2:42: not JSON: "),
    ("[\(status)", "auto", ":2:42: not JSON: "), ("garbage", "rss", ":1: not XML: "),
    (
      "<p><img src=a.jpg>", "auto",
      ":1:1: expected JSON, RSS, Atom or a whole HTML page, found other markup; for a part of a page, add `--from html`"
    ), ("\n <opml/>", "auto", ":2:2: expected JSON, RSS, Atom or a whole HTML page, found other markup"),
    ("<feed/>", "rss", ": expected the element `rss`, found `feed`"),
  ])
  func `a document that cannot be read gives one line and exit 2`(
    document: String,
    format: String,
    message: String
  ) throws {
    let folder = try TestFolder()
    let path = try folder.write("feed", document)
    for verb in ["items", "prefetch"] {
      let run = try CommandRun([verb, path, "--from", format], in: folder)
      #expect(run.status == 2)
      #expect(run.output == "")
      #expect(run.errors.hasPrefix("feedimg: \(path)\(message)"), "\(run.errors)")
      #expect(run.errors.split(separator: "\n").count == 1)
    }
  }

  @Test func `a feed without pictures is no error, and an unknown format is named`() throws {
    let folder = try TestFolder()
    for text in [#"{"version":"https://jsonfeed.org/version/1.1","items":[]}"#, "<rss><channel/></rss>"] {
      let path = try folder.write("feed", text)
      for verb in ["items", "prefetch"] {
        let run = try CommandRun([verb, path], in: folder)
        #expect(run.status == 0)
        #expect(run.errors == "feedimg: \(path): contains no items\n")
      }
    }
    for verb in ["items", "resolve", "serve"] {
      let run = try CommandRun([verb, "--from", "mastodn"] + (verb == "resolve" ? ["feed"] : []), in: folder)
      #expect(run.status == 2)
      #expect(run.errors.hasPrefix("feedimg: --from: expected auto, mastodon, "), "\(run.errors)")
      #expect(run.errors.hasSuffix("found `mastodn`; did you mean `mastodon`?\n"), "\(run.errors)")
    }
  }

  @Test func `a feed in JSON over its limit is an error that names the limit`() throws {
    let folder = try TestFolder()
    let entry =
      #"{"id":"1","image":"http://x.example/a","content_text":"\#(String(repeating: "x", count: 9 << 20))"}"#
    let path = try folder.write(
      "long.json",
      #"{"version":"https://jsonfeed.org/version/1.1","items":[\#(entry),\#(entry)]}"#
    )
    let run = try CommandRun(["items", path], in: folder)
    #expect(run.status == 2)
    #expect(run.errors == "feedimg: \(path): the document is longer than the limit of 16 MiB for JSON\n")
  }
}
