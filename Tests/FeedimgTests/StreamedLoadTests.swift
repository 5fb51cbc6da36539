import FeedimgHTTPCache
import FeedimgModel
import FeedimgSettings
import LoopbackServer
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// An image that a caller reads during the transfer, when the decision changes.
@Suite(.timeLimit(.minutes(10))) struct StreamedLoadTests {
  private static let picture = SampleImage.jpeg + [UInt8](repeating: 0, count: 300_000)
  private let gate = Gate()

  /// The chosen image, whose beginning has arrived.
  private func arriving(_ kind: NetworkKind) async throws -> (TestLoader, StreamingImage, LoopbackServer) {
    let server = try LoopbackServer { [gate] _ in
      .stalled(Self.picture, after: 1000, until: gate, [("Content-Type", "image/jpeg")])
    }
    let test = try TestLoader(kind)
    await test.loader.resources.factMonitor.watch()
    let item = try TestLoader.item(server, original: "/a", thumbnail: "/s")
    let delivery = try await test.loader.deliver(item, handle: LoadHandle(.visible), isReload: false)
    guard case .arriving(let image, _) = delivery else {
      throw LoadError(.malformed, message: "it is complete")
    }
    return (test, image, server)
  }

  private func read(_ image: StreamingImage) async throws -> Int {
    var count = 0
    while let chunk = try await image.response.body.chunk(at: count) { count += chunk.count }
    return count
  }

  @Test func `a stream is not replaced by a better image`() async throws {
    let (test, image, server) = try await arriving(.cellular)
    #expect(image.variant.role == .thumbnail)
    let standing = test.loader.resources.factMonitor.generation
    try test.settings.set(.alwaysLoadOriginalsOnCellular, to: "yes")
    while test.loader.resources.factMonitor.generation == standing { await Task.yield() }
    // Subscribers run on this executor, before work that is enqueued now.
    for _ in 0..<3 { await Task { @PipelineActor in }.value }
    gate.open()
    #expect(try await read(image) == Self.picture.count)
    #expect(server.log.requests.count == 1)
  }

  @Test func `a stream stops when its network becomes too expensive`() async throws {
    let (test, image, server) = try await arriving(.wifi)
    #expect(image.variant.role == .original)
    await test.become(.cellular)
    await #expect(throws: LoadError.self) { try await read(image) }
    await server.reaches { $0.closedByClient >= 1 }
    gate.open()
  }
}
