import LoopbackServer
import Testing

/// The errors of a program with few free descriptors.
@Suite(.timeLimit(.minutes(10))) struct DescriptorLimitTests {
  /// Which call fails depends on the limit, and on a busy machine also on the order of the threads.
  ///
  /// The test tries each limit until connections succeed, up to five times.
  @Test func `with few free descriptors the error names the program and not the server`() throws {
    let server = try LoopbackServer { _ in
      .response(200, [("Content-Type", "image/jpeg")], body: SampleImage.jpeg)
    }
    let folder = try TestFolder()
    try folder.write("item.json", #"{"originalImage": "\#(server.url("/a.jpg"))"}"#)
    var shortages = 0
    for limit in Array(repeating: Array(16...200), count: 5).joined() {
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
