import FeedimgDecoding
import FeedimgHTTPCache
import FeedimgModel
import LoopbackServer
import Synchronization
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Slots and loads that request pixels.
@Suite(.timeLimit(.minutes(10))) struct SlotPixelsTests {
  /// 8 × 8 pixels.
  private static let picture = Reply.response(200, [("Content-Type", "image/jpeg")], body: SampleImage.jpeg)
  /// Begins like a picture but is not one.
  private static let noPicture = Reply.response(
    200,
    [("Content-Type", "image/jpeg")],
    body: [0xFF, 0xD8, 0xFF, 0xE0] + [UInt8](repeating: 0, count: 60)
  )
  private static let small = DecodeRequest(DisplaySize(width: 2, height: 2))
  private static let dense = DecodeRequest(DisplaySize(width: 2, height: 2, scale: 2))

  /// Behaviour 1.
  @Test func `two sizes of one image take one request`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .held(by: gate, then: Self.picture) }
    let test = try TestLoader(decoder: CodecDecoder())
    let item = try TestLoader.item(server, original: "/a.jpg")
    let (one, two) = (test.loader.slot(), test.loader.slot())
    one.show(item, pixels: Self.small)
    two.show(item, pixels: Self.dense)
    async let loaded = test.loader.load(item, pixels: DecodeRequest())
    await server.reaches { $0.requests.count == 1 }
    gate.open()
    let last = (await one.first { !$0.isLoading }, await two.first { !$0.isLoading })
    #expect(last.0?.pixels?.size == PixelSize(width: 2, height: 2))
    #expect(last.1?.pixels?.size == PixelSize(width: 4, height: 4), "points by scale")
    #expect(last.0?.image?.bytes == SampleImage.jpeg && last.0?.image?.bitmap == last.0?.pixels)
    #expect(try await loaded.bitmap?.size == PixelSize(width: 8, height: 8))
    #expect(server.log.count(of: "/a.jpg") == 1)
    _ = try await test.loader.load(item, pixels: DecodeRequest(DisplaySize(width: 4, height: 4)))
    #expect(
      test.loader.resources.storage.memory.decoded.count == 2,
      "pixels are stored by their size in pixels"
    )
  }

  @Test func `equal pixels are decoded once for all callers`() async throws {
    let server = try LoopbackServer { _ in Self.picture }
    let decoder = HeldDecoder()
    let test = try TestLoader(decoder: decoder)
    let item = try TestLoader.item(server, original: "/a.jpg")
    let slots = (0..<5).map { _ in test.loader.slot() }
    for slot in slots { slot.show(item, pixels: Self.small) }
    while decoder.asked.all.isEmpty || test.loader.resources.pixels?.wanted != 5 { await Task.yield() }
    slots[0].clear()
    decoder.release()
    for slot in slots.dropFirst() { #expect(await slot.first { !$0.isLoading }?.pixels != nil) }
    #expect(decoder.asked.all.count == 1)
    #expect(decoder.stopped.load(ordering: .relaxed) == 0, "other callers still need it")
  }

  /// Behaviour 15.
  @Test func `a view bound to another item stops the decoder, and no pixels are stored`() async throws {
    let server = try LoopbackServer { _ in Self.picture }
    let decoder = HeldDecoder()
    let test = try TestLoader(decoder: decoder)
    let slot = test.loader.slot()
    slot.show(try TestLoader.item(server, original: "/a.jpg"), pixels: Self.small)
    while decoder.asked.all.isEmpty { await Task.yield() }
    let other = try TestLoader.item(server, original: "/b.jpg")
    slot.show(other, pixels: Self.dense)
    while decoder.stopped.load(ordering: .relaxed) == 0 { await Task.yield() }
    #expect(test.loader.resources.storage.memory.decoded.count == 0)
    decoder.release()
    let shown = await slot.first { !$0.isLoading }
    #expect(shown?.item == other && shown?.pixels != nil)
    #expect(test.loader.resources.storage.memory.decoded.count == 1)
    #expect(decoder.asked.all == [Self.small.size, Self.dense.size])
  }

  @Test func `a placeholder is shown as pixels, then the image`() async throws {
    let server = try LoopbackServer { _ in Self.picture }
    let decoder = HeldDecoder()
    let test = try TestLoader(decoder: decoder)
    var item = try TestLoader.item(server, original: "/a.jpg")
    item.placeholder = Placeholder(blurHash: "LEHV6nWB2yk8pyo0adR*.7kCMdnj", color: "#336699")
    let slot = test.loader.slot()
    slot.show(item, pixels: DecodeRequest(DisplaySize(width: 30, height: 20), format: .bgra))
    let placeholder = slot.presentation
    #expect(placeholder?.content == .placeholder(item.placeholder))
    #expect(placeholder?.pixels == item.placeholder.bitmap(aspect: 1.5, format: .bgra))
    #expect(placeholder?.pixels?.size == PixelSize(width: 32, height: 21), "the shape of its place")
    while decoder.asked.all.isEmpty { await Task.yield() }
    #expect(slot.presentation?.shown == .placeholder, "an image is shown when it has its pixels")
    decoder.release()
    let last = await slot.first { !$0.isLoading }
    #expect(last?.shown == .original && last?.pixels?.size == PixelSize(width: 1, height: 1))
  }

  @Test func `a view with a width alone leaves the height to the image`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .held(by: gate, then: Self.picture) }
    let test = try TestLoader(decoder: CodecDecoder())
    var item = try TestLoader.item(server, original: "/a.jpg")
    item.placeholder = Placeholder(blurHash: "LEHV6nWB2yk8pyo0adR*.7kCMdnj")
    let slot = test.loader.slot()
    slot.show(item, pixels: DecodeRequest(DisplaySize(maximumWidth: 4, maximumHeight: 0)))
    #expect(slot.presentation?.pixels?.size == PixelSize(width: 32, height: 32))
    gate.open()
    let last = await slot.first { !$0.isLoading }
    #expect(last?.shown == .original && last?.pixels?.size == PixelSize(width: 4, height: 4))
    #expect(test.loader.resources.storage.memory.decoded.count == 1, "memory keeps the pixels")
  }

  @Test func `without a decoder a slot has bytes and the placeholder's text only`() async throws {
    let server = try LoopbackServer { _ in Self.picture }
    let test = try TestLoader()
    var item = try TestLoader.item(server, original: "/a.jpg")
    item.placeholder = Placeholder(color: "#336699")
    let slot = test.loader.slot()
    slot.show(item, pixels: Self.small)
    #expect(slot.presentation?.content == .placeholder(item.placeholder))
    #expect(slot.presentation?.pixels == nil)
    let last = await slot.first { !$0.isLoading }
    #expect(last?.image?.bytes == SampleImage.jpeg && last?.pixels == nil)
    let image = try await test.loader.load(item, pixels: Self.small)
    #expect(image.bitmap == nil && image.notes.contains { $0.hasPrefix("not decoded") })
  }

  @Test func `a caller that requests no pixels gets none, and nothing is decoded`() async throws {
    let server = try LoopbackServer { _ in Self.picture }
    let decoder = HeldDecoder(isHeld: false)
    let test = try TestLoader(decoder: decoder)
    var item = try TestLoader.item(server, original: "/a.jpg")
    item.placeholder = Placeholder(color: "#336699")
    let slot = test.loader.slot()
    slot.show(item)
    #expect(slot.presentation?.pixels == nil)
    #expect(await slot.first { !$0.isLoading }?.image?.bytes == SampleImage.jpeg)
    #expect(try await test.loader.load(item).bitmap == nil)
    #expect(decoder.asked.all.isEmpty)
  }

  @Test func `pixels in memory are shown before show returns`() async throws {
    let server = try LoopbackServer { _ in Self.picture }
    let test = try TestLoader(decoder: CodecDecoder())
    let item = try TestLoader.item(server, original: "/a.jpg")
    _ = try await test.loader.load(item, pixels: Self.small)
    let slot = test.loader.slot()
    slot.show(item, pixels: Self.small)
    #expect(slot.presentation?.pixels?.size == PixelSize(width: 2, height: 2))
    slot.show(item, pixels: Self.dense)
    #expect(await slot.first { !$0.isLoading }?.pixels?.size == PixelSize(width: 4, height: 4))
    #expect(server.log.count(of: "/a.jpg") == 1)
  }

  @Test func `the cached thumbnail is decoded while the original loads`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { $0.path == "/s" ? Self.picture : .held(by: gate, then: Self.picture) }
    let test = try TestLoader(.cellular, decoder: CodecDecoder())
    let item = try TestLoader.item(server, original: "/a", thumbnail: "/s")
    _ = try await test.loader.load(item)
    test.network.become(.wifi)
    let slot = test.loader.slot()
    slot.show(item, pixels: Self.small)
    let meanwhile = await slot.first { $0.shown == .thumbnail }
    #expect(meanwhile?.isLoading == true && meanwhile?.pixels?.size == PixelSize(width: 2, height: 2))
    gate.open()
    #expect(await slot.first { $0.shown == .original }?.pixels != nil)
  }

  /// Counts the failed loads.
  private final class Failures: LoadObserving {
    let count = Atomic(0)

    func observe(_ event: LoadEvent) {
      if case .failed = event.step { count.add(1, ordering: .releasing) }
    }
  }

  @Test func `a thumbnail that is being decoded when its original fails is still shown`() async throws {
    let server = try LoopbackServer {
      $0.path == "/s" ? Self.picture : .response(429, [("Retry-After", "600")])
    }
    let (decoder, failures) = (HeldDecoder(), Failures())
    let test = try TestLoader(decoder: decoder, observers: [failures], followsPolicies: true)
    // The load itself then does not fall back to the thumbnail.
    try test.write(
      policy: "| original | → image |\n|---|---|\n| none | placeholder |\n| not none | original |\n"
    )
    _ = try await test.loader.load(try TestLoader.item(server, original: "/s"))
    let item = try TestLoader.item(server, original: "/a", thumbnail: "/s")
    await #expect(throws: LoadError.self) { try await test.loader.load(item) }
    let slot = test.loader.slot()
    slot.show(item, pixels: Self.small)
    while failures.count.load(ordering: .acquiring) < 2 { await Task.yield() }
    decoder.release()
    let last = await slot.first { !$0.isLoading }
    #expect(last?.shown == .thumbnail && last?.pixels != nil)
    #expect(last?.error?.status == 429)
  }

  @Test func `the thumbnail replaces an original that cannot be decoded`() async throws {
    let server = try LoopbackServer { $0.path == "/a" ? Self.noPicture : Self.picture }
    let test = try TestLoader(decoder: CodecDecoder())
    let both = try TestLoader.item(server, original: "/a", thumbnail: "/s")
    let image = try await test.loader.load(both, pixels: Self.small)
    #expect(image.variant.role == .thumbnail && image.bitmap != nil)
    #expect(image.notes.contains { $0.contains("cannot be decoded") })
    let slot = test.loader.slot()
    slot.show(both, pixels: Self.small)
    #expect(await slot.first { !$0.isLoading }?.shown == .thumbnail)
    slot.show(try TestLoader.item(server, original: "/a"), pixels: Self.small)
    let last = await slot.first { !$0.isLoading }
    #expect(last?.shown == .placeholder && last?.error?.code == .notAnImage)
    #expect(server.log.count(of: "/a") == 1, "the bytes are available, although they are useless")
  }

  @Test func `pixels are evicted first under memory pressure, and decoded again`() async throws {
    let server = try LoopbackServer { _ in Self.picture }
    let decoder = HeldDecoder(isHeld: false)
    let test = try TestLoader(decoder: decoder)
    let item = try TestLoader.item(server, original: "/a.jpg")
    let slot = test.loader.slot()
    slot.show(item, pixels: Self.small)
    let shown = await slot.first { !$0.isLoading }
    test.loader.resources.storage.memory.keep(.encoded)
    #expect(
      test.loader.resources.storage.memory.decoded.count == 0
        && test.loader.resources.storage.memory.encoded.count == 1
    )
    #expect(slot.presentation == shown, "nothing visible blanks")
    let other = test.loader.slot()
    other.show(item, pixels: Self.small)
    #expect(await other.first { !$0.isLoading }?.pixels == shown?.pixels)
    #expect(decoder.asked.all.count == 2)
    #expect(server.log.count(of: "/a.jpg") == 1)
  }
}
