import Glibc
import LoopbackServer
import Synchronization
import Testing

/// A program that is killed during a transfer and started again.
@Suite struct KilledLoadTests {
  static let picture = PictureOrigin.picture(1, size: 900_000)
  /// Whether the program has ended, so that the test stops waiting.
  private final class End: Sendable {
    let hasCome = Atomic(false)
  }

  static let fields = [("ETag", "\"1\""), ("Accept-Ranges", "bytes")]

  /// The length of the bodies that are being written.
  private func incoming(_ folder: TestFolder) -> Int {
    folder.files(below: "cache").filter { $0.contains("incoming/") && !$0.hasSuffix(".log") }
      .reduce(0) { sum, path in
        var status = stat()
        return sum + (stat(folder.path("cache/\(path)"), &status) == 0 ? Int(status.st_size) : 0)
      }
  }

  @Test func `the bytes that a killed program received are resumed by the next one`() async throws {
    let folder = try TestFolder()
    let gate = Gate()
    let origin = try PictureOrigin(Self.picture, Self.fields)
    origin.respond(always: .stalled(Self.picture, after: 600_000, until: gate, Self.fields))
    let item = try folder.write(
      "item.json",
      LoadTests.item(origin.server, original: "/a.jpg", thumbnail: nil)
    )
    let script = "echo $$ > pid; exec \"$0\" load --network wifi --item \"$1\""
    let end = End()
    let killed = Task.detached {
      defer { end.hasCome.store(true, ordering: .relaxed) }
      return try CommandRun(of: "/bin/sh", ["-c", script, CommandRun.program, item], in: folder)
    }
    while incoming(folder) < 600_000, !end.hasCome.load(ordering: .relaxed) { await Task.yield() }
    let pid = try #require(pid_t(TestFolder.text(of: folder.path("pid")).dropLast()))
    kill(pid, SIGKILL)
    #expect(try await killed.value.status == 128 + SIGKILL)
    gate.open()
    origin.respond(always: nil)
    let output = folder.path("out.jpg")
    let run = try CommandRun(["load", "--network", "wifi", "--item", item, "--output", output], in: folder)
    #expect(run.status == 0, "\(run.errors)")
    #expect(try TestFolder.bytes(of: output) == Self.picture)
    #expect(origin.requests.last?["Range"] == "bytes=600000-")
    #expect(folder.files(below: "cache").allSatisfy { !$0.contains("partial/") })
    #expect(incoming(folder) == 0)
  }
}
