import FeedimgJSON
import LoopbackServer
import Testing

/// `feedimg prefetch` as a user runs it, with a real server.
@Suite struct PrefetchTests {
  /// Two images that load, and one that fails.
  private func feed(_ server: LoopbackServer, _ folder: TestFolder) throws -> String {
    let items = [
      LoadTests.item(server, original: "/original.jpg", thumbnail: nil),
      LoadTests.item(server, original: "/missing", thumbnail: nil),
      LoadTests.item(server, original: "/thumbnail.webp", thumbnail: nil),
    ]
    return try folder.write("feed.jsonl", items.joined(separator: "\n"))
  }

  @Test func `prefetched images need no network later, and a failure is reported without a bar`() throws {
    let (folder, server) = (try TestFolder(), try LoadTests.makeServer())
    let path = try feed(server, folder)
    let run = try CommandRun(["prefetch", path, "--network", "wifi"], in: folder)
    #expect(run.status == 1)
    #expect(run.output.hasPrefix("3 items: 2 fetched ("))
    #expect(run.output.hasSuffix("; 1 failed\n"))
    #expect(run.errors == "feedimg: `\(server.url("/missing"))`: the server responded with 404 Not Found\n")
    let later = try CommandRun(["prefetch", path, "--network", "offline"], in: folder)
    #expect(later.status == 0)
    #expect(later.output == "3 items: 0 fetched (0 B); 2 already cached; 1 skipped: there is no network\n")
  }

  @Test func `as JSON each item has a line, and the last line is a summary`() throws {
    let (folder, server) = (try TestFolder(), try LoadTests.makeServer())
    let path = try feed(server, folder)
    let run = try CommandRun(["prefetch", path, "--json", "--network", "wifi"], in: folder)
    let lines = try run.objects
    #expect(lines.count == 4)
    let outcomes = Dictionary(lines.dropLast().map { ($0["item"]?.integer ?? 0, $0["outcome"]) }) { $1 }
    #expect(outcomes == [1: "fetched", 2: "failed", 3: "fetched"])
    #expect(lines.last?["fetched"] == 2)
    #expect(lines.last?["failed"] == 1)
  }

  @Test func `an image that was fetched and could not be kept is reported`() throws {
    let (folder, server) = (try TestFolder(), try LoadTests.makeServer())
    let items = ["/original.jpg", "/no-store"].map { LoadTests.item(server, original: $0, thumbnail: nil) }
    let path = try folder.write("feed.jsonl", items.joined(separator: "\n"))
    let forbidden = try CommandRun(["prefetch", path, "--network", "wifi"], in: folder)
    #expect(forbidden.status == 0)
    #expect(forbidden.output.hasPrefix("2 items: 1 fetched ("), "\(forbidden.output)")
    #expect(forbidden.output.hasSuffix("; 1 not stored\n"), "\(forbidden.output)")
    let reason = "not kept: the server forbids it (`no-store`)"
    #expect(forbidden.errors == "feedimg: `\(server.url("/no-store"))`: \(reason)\n")
    // No folder can be created below a file.
    let nowhere = try folder.write("file", "") + "/cache"
    let run = try CommandRun(
      ["prefetch", path, "--json", "--network", "wifi", "--cache-dir", nowhere],
      in: folder
    )
    #expect(run.status == 0)
    let lines = try run.objects
    #expect(lines.dropLast().map { $0["outcome"] } == ["unkept", "unkept"])
    #expect(lines.contains { $0["reason"]?.text?.hasPrefix("not kept: cannot make the folder") == true })
    #expect(lines.last?["fetched"] == 0 && lines.last?["unkept"] == 2)
    #expect(try #require(lines.last?["bytes"]?.integer) > 0)
  }

  @Test func `on a metered network nothing is fetched`() throws {
    let (folder, server) = (try TestFolder(), try LoadTests.makeServer())
    let path = try feed(server, folder)
    let run = try CommandRun(["prefetch", path, "--network", "wifi", "--metered", "yes"], in: folder)
    #expect(run.status == 0)
    #expect(run.output == "3 items: 0 fetched (0 B); 3 skipped: data costs, may cost, or is to be saved\n")
    let saver = try CommandRun(["settings", "set", "data-saver", "yes"], in: folder)
    #expect(saver.status == 0)
    let saving = try CommandRun(["prefetch", path, "--network", "wifi", "--metered", "no"], in: folder)
    #expect(saving.output == run.output)
    #expect(server.log.opened == 0)
  }

  @Test(arguments: [
    (["prefetch"], "expected items: a JSON file"),
    (
      ["prefetch", "feed.json", "--limit", "lots"],
      "--limit lots: expected a size, such as `20MB` or `512 KiB`"
    ),
    (
      ["prefetch", "feed.json", "--limit", "-5"],
      "feedimg: --limit -5: expected a size, such as `20MB` or `512 KiB`\n"
    ),
    (
      ["prefetch", "feed.json", "--image-limit", "-5MB"],
      "feedimg: --image-limit -5MB: expected a size, such as `20MB` or `512 KiB`\n"
    ),
    (["prefetch", "nowhere.json"], "nowhere.json: cannot read: no such file or directory"),
  ])
  func `invalid arguments end with 2`(arguments: [String], message: String) throws {
    let run = try CommandRun(arguments, in: try TestFolder())
    #expect(run.status == 2)
    #expect(run.errors.contains(message), "\(run.errors)")
  }

  @Test func `invalid items are reported as they are read`() throws {
    let folder = try TestFolder()
    try folder.write("feed.jsonl", #"{"originalImage": "http://x.example/a", "kind": "Listing"}"# + "\n<rss>")
    let run = try CommandRun(["prefetch", "feed.jsonl", "--network", "offline"], in: folder)
    #expect(run.errors.hasPrefix("feedimg: feed.jsonl:2:1: not JSON"), "\(run.errors)")
  }

  @Test(.enabled(if: TerminalRun.isAvailable, "there is no `script` to make a terminal"))
  func `a terminal shows a bar with bytes, rate and remaining time, and then one sentence`() throws {
    let gate = Gate()
    let server = try LoopbackServer { request in
      let picture = Reply.response(200, [("Content-Type", "image/jpeg")], body: SampleImage.jpeg)
      return request.path == "/last" ? .held(by: gate, then: picture) : picture
    }
    let folder = try TestFolder()
    let items = ["/a", "/b", "/last"].map { LoadTests.item(server, original: $0, thumbnail: nil) }
    try folder.write("feed.jsonl", items.joined(separator: "\n"))
    let run = try TerminalRun("prefetch feed.jsonl --network wifi --no-service", in: folder)
    // Two thirds of 24, and the text between the last bar and the end of its line.
    let bar = try run.text(
      upTo: #/\[#{16} {8}\]  ?2 of 3 images, [0-9.]+ k?B, [0-9.]+ [kM]?B\/s, [0-9]+ (s|min) left/#
    )
    #expect(bar != nil)
    gate.open()
    let sentence = try run.text(upTo: #/\r\u{1B}\[K3 items: 3 fetched \([0-9.]+ k?B\)\r\n/#)
    #expect(sentence != nil, "the bar is removed first")
  }
}
