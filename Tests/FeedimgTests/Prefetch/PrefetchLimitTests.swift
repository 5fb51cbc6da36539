import FeedimgModel
import FeedimgSettings
import LoopbackServer
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// The bytes that a prefetch spends, with real layers.
@Suite(.timeLimit(.minutes(10))) struct PrefetchLimitTests {
  private static let size = 270_000

  /// A picture of this length.
  ///
  /// Only its first bytes are image data.
  private static func picture(_ size: Int) -> [UInt8] {
    SampleImage.jpeg + [UInt8](repeating: 0, count: size - SampleImage.jpeg.count)
  }

  private static let type = [("Content-Type", "image/jpeg")]

  private func items(_ server: LoopbackServer, _ count: Int, size: Int? = nil) throws -> [FeedItem] {
    try (0..<count).map { number in
      var item = try TestLoader.item(server, original: "/\(number)")
      item.original?.size = size.map { ByteCount($0) }
      return item
    }
  }

  private enum Told: CaseIterable { case declared, announced, both }

  @Test(arguments: Told.allCases)
  private func `a prefetch fetches as many images as fit its limit`(told: Told) async throws {
    let server = try LoopbackServer { _ in
      let body = Self.picture(Self.size)
      return told == .declared
        ? .chunked(Self.type, body: body, size: 1 << 14) : .response(200, Self.type, body: body)
    }
    let test = try TestLoader(memoryLimit: .mebibytes(16))
    let items = try items(server, 40, size: told == .announced ? nil : Self.size)
    let limit = 7 * Self.size + Self.size / 2
    let limits = Prefetch.Limits(total: ByteCount(limit))
    let progress = await test.loader.prefetch(items, limits: limits).finish()
    #expect(progress.fetched == 7)
    #expect(progress.skipped == [.spent: 33])
    #expect(progress.received == ByteCount(7 * Self.size), "no other body has begun to arrive")
    if told != .announced { #expect(server.log.requests.count == 7, "the others were not requested") }
  }

  @Test func `without announced lengths the limit holds, and the first image is completed`() async throws {
    let server = try LoopbackServer { _ in
      .chunked(Self.type, body: Self.picture(Self.size), size: 1 << 14)
    }
    let test = try TestLoader(memoryLimit: .mebibytes(16))
    let limit = 4 * Self.size
    let limits = Prefetch.Limits(total: ByteCount(limit))
    let progress = await test.loader.prefetch(try items(server, 40), limits: limits).finish()
    #expect(progress.fetched >= 3)
    // The limit, and the bytes in flight when it was reached.
    #expect(progress.received.bytes <= limit + 1 << 16)
    #expect(progress.done == 40)
  }

  @Test func `a load without a length that never fits is skipped in the end`() async throws {
    let body = Self.picture(400_000)
    let server = try LoopbackServer { _ in .chunked(Self.type, body: body, size: 40_000) }
    let test = try TestLoader()
    let limits = Prefetch.Limits(total: ByteCount(1 << 20), perImage: ByteCount(1 << 19))
    let progress = await test.loader.prefetch(try items(server, 6), limits: limits).finish()
    #expect(progress.fetched == 2 && progress.skipped == [.spent: 4], "\(progress)")
    // The limit, and the bytes in flight when it was reached.
    #expect(progress.received.bytes <= (1 << 20) + (1 << 16))
  }

  @Test func `without budget a prefetch sends no request`() async throws {
    let server = try LoopbackServer { _ in .response(200, Self.type, body: SampleImage.jpeg) }
    let test = try TestLoader()
    let limits = Prefetch.Limits(total: ByteCount(0))
    let progress = await test.loader.prefetch(try items(server, 5), limits: limits).finish()
    #expect(progress.skipped == [.spent: 5] && progress.received == ByteCount(0))
    #expect(server.log.opened == 0)
  }

  @Test func `small images that fit are fetched after large ones that do not`() async throws {
    let server = try LoopbackServer { request in
      let isLarge = request.path == "/0" || request.path == "/1"
      return .response(200, Self.type, body: Self.picture(isLarge ? Self.size : 20_000))
    }
    let test = try TestLoader(memoryLimit: .mebibytes(16))
    let limits = Prefetch.Limits(total: ByteCount(Self.size + 50_000))
    let progress = await test.loader.prefetch(try items(server, 10), limits: limits).finish()
    #expect(progress.received.bytes <= limits.total.bytes)
    #expect(progress.fetched >= 3)
  }

  @Test func `an image above the maximum size is refused before its body arrives`() async throws {
    let server = try LoopbackServer { _ in .response(200, Self.type, body: Self.picture(Self.size)) }
    let test = try TestLoader()
    let limits = Prefetch.Limits(perImage: ByteCount(100_000))
    let progress = await test.loader.prefetch(try items(server, 12), limits: limits).finish()
    #expect(progress.skipped == [.tooLarge: 12])
    #expect(progress.received == ByteCount(0))
  }

  @Test func `an image of unknown length stops as soon as it is too large`() async throws {
    let gate = Gate()
    let body = Self.picture(Self.size)
    let server = try LoopbackServer { _ in
      let whole = Reply.chunked(Self.type, body: body, size: body.count)
      guard case .send(let bytes)? = whole.steps.first else { return whole }
      return Reply([.send(Array(bytes.prefix(150_000))), .wait(gate)])
    }
    let test = try TestLoader()
    let limits = Prefetch.Limits(perImage: ByteCount(100_000))
    let progress = await test.loader.prefetch(try items(server, 1), limits: limits).finish()
    #expect(progress.skipped == [.tooLarge: 1])
    gate.open()
  }

  @Test func `a visible image is loaded although a prefetch finds it too large`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in
      .held(by: gate, then: .response(200, Self.type, body: Self.picture(Self.size)))
    }
    let test = try TestLoader(memoryLimit: .mebibytes(16))
    let item = try items(server, 1)[0]
    let prefetch = test.loader.prefetch([item], limits: Prefetch.Limits(perImage: ByteCount(1000)))
    await server.reaches { $0.requests.count == 1 }
    let key = try #require(item.original?.url.key)
    async let image = test.loader.load(item)
    while test.loader.resources.loads.coalescer.count(of: key) < 2 { await Task.yield() }
    gate.open()
    #expect(try await image.bytes.count == Self.size)
    #expect(await prefetch.finish().skipped == [.tooLarge: 1])
    #expect(server.log.requests.count == 1)
  }
}
