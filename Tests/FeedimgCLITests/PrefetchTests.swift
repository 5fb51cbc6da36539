import FeedimgJSON
import LoopbackServer
import Testing

/// `feedimg prefetch` as a user runs it, against a real server.
@Suite struct PrefetchTests {
  /// Two that can be had, one that cannot.
  private func feed(_ server: LoopbackServer, _ folder: TestFolder) throws -> String {
    let items = [
      LoadTests.item(server, original: "/original.jpg", thumbnail: nil),
      LoadTests.item(server, original: "/missing", thumbnail: nil),
      LoadTests.item(server, original: "/thumbnail.webp", thumbnail: nil),
    ]
    return try folder.write("feed.jsonl", items.joined(separator: "\n"))
  }

  @Test func `what was prefetched needs no network later, and a failure is told without a bar`() throws {
    let (folder, server) = (try TestFolder(), try LoadTests.makeServer())
    let path = try feed(server, folder)
    let run = try CommandRun(["prefetch", path, "--network", "wifi"], in: folder)
    #expect(run.status == 1)
    #expect(run.output.hasPrefix("3 items: 2 fetched ("))
    #expect(run.output.hasSuffix("; 1 failed\n"))
    #expect(run.errors == "feedimg: `\(server.url("/missing"))`: the server answered 404 Not Found\n")
    let later = try CommandRun(["prefetch", path, "--network", "offline"], in: folder)
    #expect(later.status == 0)
    #expect(later.output == "3 items: 0 fetched (0 B); 2 cached before; 1 left out: there is no network\n")
  }

  @Test func `as JSON each item has a line, and all have one in the end`() throws {
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

  @Test func `where data costs nothing is fetched`() throws {
    let (folder, server) = (try TestFolder(), try LoadTests.makeServer())
    let path = try feed(server, folder)
    let run = try CommandRun(["prefetch", path, "--network", "wifi", "--metered", "yes"], in: folder)
    #expect(run.status == 0)
    #expect(run.output == "3 items: 0 fetched (0 B); 3 left out: data costs, or may\n")
    #expect(server.log.opened == 0)
  }

  @Test(arguments: [
    (["prefetch"], "Missing expected argument '<file>'"),
    (
      ["prefetch", "feed.json", "--limit", "lots"],
      "--limit lots: expected a size, such as `20MB` or `512 KiB`"
    ),
    (["prefetch", "nowhere.json"], "nowhere.json: cannot be read: no such file or directory"),
  ])
  func `what is not understood ends with 2`(arguments: [String], message: String) throws {
    let run = try CommandRun(arguments, in: try TestFolder())
    #expect(run.status == 2)
    #expect(run.errors.contains(message), "\(run.errors)")
  }
}
