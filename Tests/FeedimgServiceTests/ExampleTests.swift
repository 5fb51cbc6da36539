import FoundationEssentials
import Glibc
import LoopbackServer
import Testing

/// The programs in `Examples` that use the socket.
@Suite(.timeLimit(.minutes(10))) struct ExampleTests {
  private static let folder =
    URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().path + "/Examples"

  private let origin: LoopbackServer
  private let service: ServiceRun

  init() throws {
    origin = try LoopbackServer { request in
      request.path == "/a.png" ? .response(body: SampleImage.png) : .response(404)
    }
    service = try ServiceRun(["--network=wifi"])
  }

  private func item(_ path: String) -> String { #"{"originalImage":"\#(origin.url(path))"}"# }

  private func write(_ text: String, to name: String) throws -> String {
    let path = "\(service.root)/\(name)"
    try Data(text.utf8).write(to: URL(filePath: path))
    return path
  }

  /// Runs a program to its end; returns its status.
  private func run(_ command: String...) throws -> Int32 {
    let process = try ServiceRun.spawn(
      command,
      ServiceRun.variables(service.root),
      errors: "\(service.root)/example-errors"
    )
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    return status >> 8
  }

  private func bytes(_ path: String) -> [UInt8]? {
    (try? Data(contentsOf: URL(filePath: path))).map { [UInt8]($0) }
  }

  @Test func `the Python example saves an image, and fails for one that cannot be loaded`() throws {
    let program = "\(Self.folder)/python-socket/image.py"
    let image = "\(service.root)/image"
    #expect(try run("/usr/bin/python3", program, try write(item("/a.png"), to: "item.json"), image) == 0)
    #expect(bytes(image) == SampleImage.png)
    #expect(try run("/usr/bin/python3", program, try write(item("/b.png"), to: "item.json"), image) == 1)
  }

  @Test func `the shell example saves the images of a feed`() throws {
    // The last line may lack its end.
    let feed = try write("\(item("/a.png"))\n\(item("/b.png"))", to: "feed.jsonl")
    #expect(try run("/bin/sh", "\(Self.folder)/shell/feed.sh", feed, service.root) == 0)
    #expect(bytes("\(service.root)/1") == SampleImage.png)
    let problem = bytes("\(service.root)/2.json").map { String(decoding: $0, as: UTF8.self) }
    #expect(problem?.contains("\"originStatus\":404") == true)
  }
}
