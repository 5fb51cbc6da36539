import FeedimgJSON
import FeedimgSQLite
import Glibc
import LoopbackServer
import Synchronization
import Testing

/// The path that `feedimg load --json` prints leads to the image when the command has ended.
@Suite(.timeLimit(.minutes(10))) struct PrintedPathTests {
  /// Serves another image each time, unless `isSame`; the first responses wait until so many requests have come.
  private static func makeServer(isSame: Bool, together: Int = 1) throws -> LoopbackServer {
    let count = Atomic(0)
    let gate = Gate()
    return try LoopbackServer { _ in
      let number = count.add(1, ordering: .relaxed).newValue
      if number == together { gate.open() }
      let end = isSame ? [] : Array("\(number)".utf8)
      let reply = Reply.response(200, [("Content-Type", "image/jpeg")], body: SampleImage.jpeg + end)
      return .held(by: gate, then: reply)
    }
  }

  private func path(in run: CommandRun) throws -> String {
    #expect(run.status == 0, "\(run.errors)")
    return try #require(try run.objects.first?["path"]?.text)
  }

  @Test(arguments: [true, false])
  func `after a revalidation that brings an image`(isSame: Bool) throws {
    let (folder, server) = (try TestFolder(), try Self.makeServer(isSame: isSame))
    let load = ["load", "--json", server.url("/a.jpg"), "--network", "wifi"]
    let first = try path(in: CommandRun(load, in: folder))
    // A response is revalidated ten seconds after it came.
    let index = try SQLiteConnection(path: folder.path("cache/feedimg/index.sqlite"), access: .write)
    try index.execute(
      "UPDATE entry SET requested_at = requested_at - 60000, responded_at = responded_at - 60000"
    )
    let run = try CommandRun(load, in: folder)
    #expect(try run.objects.first?["source"] == "cache")
    #expect(try path(in: run) == first)
    #expect(try TestFolder.bytes(of: first).starts(with: SampleImage.jpeg))
    #expect(server.log.requests.count == 2)
    #expect(run.errors.contains("a new version is now in the cache") == !isSame)
    let last = try path(in: CommandRun(load, in: folder))
    #expect((last == first) == isSame)
    #expect(try TestFolder.bytes(of: last).starts(with: SampleImage.jpeg))
  }

  @Test(arguments: [true, false])
  func `after four loads of one URL at once`(isSame: Bool) throws {
    let (folder, server) = (try TestFolder(), try Self.makeServer(isSame: isSame, together: 4))
    let list = try folder.write("urls", String(repeating: server.url("/a.jpg") + "\n", count: 4))
    let run = try CommandRun(
      of: "/usr/bin/xargs",
      ["-P", "4", "-n", "1", CommandRun.program, "load", "--json", "--network", "wifi"],
      in: folder,
      environment: ["TEST_STDIN": list]
    )
    let paths = try run.objects.compactMap { $0["path"]?.text }
    #expect(paths.count == 4, "\(run.errors)")
    #expect(Set(paths).count == (isSame ? 1 : 4))
    for path in paths { #expect(try TestFolder.bytes(of: path).starts(with: SampleImage.jpeg)) }
    #expect(server.log.requests.count == 4)
  }
}
