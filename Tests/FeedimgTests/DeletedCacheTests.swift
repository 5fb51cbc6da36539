import FoundationEssentials
import LoopbackServer
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Changes to a cache while a loader runs never fail a load.
@Suite struct DeletedCacheTests {
  private static let picture = Reply.response(200, [("Content-Type", "image/jpeg")], body: SampleImage.jpeg)

  @Test func `a cache that is deleted under a running loader is created again, and no load fails`()
    async throws
  {
    let server = try LoopbackServer { _ in Self.picture }
    let test = try TestLoader(memoryLimit: ByteCount(0))
    for number in 0..<6 {
      let item = try TestLoader.item(server, original: "/\(number).jpg")
      #expect(try await test.loader.load(item).source == .network)
      let again = try await test.loader.load(item)
      #expect(again.source == .disk)
      #expect(again.bytes == SampleImage.jpeg)
      let parts = ["", "/bodies", "/incoming", "/index.sqlite", "/index.sqlite-wal", "/lock"]
      try? FileManager.default.removeItem(atPath: test.folder + "/cache" + parts[number])
    }
    let last = try TestLoader.item(server, original: "/5.jpg")
    #expect(try await test.loader.load(last).bytes == SampleImage.jpeg)
  }

  @Test func `a cache that is deleted during a transfer does not fail its load`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .held(by: gate, then: Self.picture) }
    let test = try TestLoader(memoryLimit: ByteCount(0))
    let item = try TestLoader.item(server, original: "/a.jpg")
    async let image = test.loader.load(item)
    await server.reaches { $0.requests.count == 1 }
    try? FileManager.default.removeItem(atPath: test.folder + "/cache")
    gate.open()
    #expect(try await image.bytes == SampleImage.jpeg)
    #expect(try await test.loader.load(item).source == .disk)
  }

  @Test func `a file in place of the cache does not fail a load`() async throws {
    let server = try LoopbackServer { _ in Self.picture }
    let test = try TestLoader(memoryLimit: ByteCount(0))
    let item = try TestLoader.item(server, original: "/a.jpg")
    #expect(try await test.loader.load(item).source == .network)
    try FileManager.default.removeItem(atPath: test.folder + "/cache")
    try Data("no folder".utf8).write(to: URL(filePath: test.folder + "/cache"))
    let image = try await test.loader.load(item)
    #expect(image.bytes == SampleImage.jpeg)
    #expect(image.source == .network)
  }
}
