import LoopbackServer
import Testing

/// What a program with few open files left says of its loads.
@Suite(.timeLimit(.minutes(10))) struct DescriptorLimitTests {
  /// Which call finds no descriptor depends on the limit: each is tried until a connection wanted one, and the next had it.
  @Test func `with few open files left it blames itself and not the server`() throws {
    let server = try LoopbackServer { _ in
      .answer(200, [("Content-Type", "image/jpeg")], body: SampleImage.jpeg)
    }
    let folder = try TestFolder()
    try folder.write("item.json", #"{"originalImage": "\#(server.url("/a.jpg"))"}"#)
    var shortages = 0
    for limit in 16...200 {
      let run = try CommandRun(
        of: "/usr/bin/prlimit",
        ["--nofile=\(limit):\(limit)", CommandRun.program, "load", "--no-service", "--item", "item.json"],
        in: folder,
        environment: ["XDG_CACHE_HOME": folder.path("cache\(limit)")]
      )
      #expect(!run.errors.contains("no connection"), "with \(limit): \(run.errors)")
      if run.errors.contains("too many open files: raise the limit of the program") { shortages += 1 }
      if shortages > 0, run.status == 0 { break }
    }
    #expect(shortages > 0)
  }
}
