import FeedimgModel
import LoopbackServer
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Long bodies from a real server with slow readers.
@Suite(.timeLimit(.minutes(10))) struct SlowReaderTests {
  private let gate = Gate()
  private let content = (0..<64).flatMap { [UInt8](repeating: UInt8($0 + 1), count: 1 << 20) }

  private func origin() throws -> LoopbackServer {
    try LoopbackServer { [gate, content] _ in
      let head = Reply.head(
        200,
        [("Cache-Control", "max-age=60"), ("Content-Length", String(content.count))]
      )
      let middle = content.count / 2
      return Reply([.send(head + content[..<middle]), .wait(gate), .send(Array(content[middle...]))])
    }
  }

  private func ask(_ cache: ResponseCache, _ url: String) async throws -> ResponseStream {
    let request = FetchRequest(try ImageURL(url), fields: HTTPFields(), priority: .visible)
    guard case .arriving(let body, _) = try await cache.response(to: request).body else {
      throw LoadError(.malformed, message: "the beginning is missing")
    }
    return body
  }

  private static func read(_ body: ResponseStream) async throws(LoadError) -> [UInt8] {
    var bytes: [UInt8] = []
    while let chunk = try await body.chunk(at: bytes.count) { bytes += chunk }
    return bytes
  }

  @Test func `memory holds only the bytes of a long body that are not on disk, however slow its readers are`()
    async throws
  {
    let (origin, folders) = (try origin(), try PolicyFolders())
    let configuration = folders.configuration()
    let loader = try ImageLoader(configuration)
    let cache = ResponseCache(loader, configuration)
    var bodies: [ResponseStream] = []
    for _ in 0..<8 { bodies.append(try await ask(cache, origin.url("/a"))) }
    #expect(origin.log.count(of: "/a") == 1)
    gate.open()
    // No reader begins before the whole body has arrived.
    #expect(try await bodies[0].chunk(at: content.count) == nil)
    let held = Set(bodies.map(ObjectIdentifier.init)).count * bodies[0].heldCount
    #expect(bodies[0].count == content.count)
    #expect((1...ResponseStream.window).contains(held))
    for body in bodies.prefix(2) { #expect(try await Self.read(body) == content) }
    // A reader that has left holds no memory.
    weak let rest = bodies.first
    bodies = []
    while rest != nil { await Task.yield() }
  }
}
