import FeedimgDecoding
import FeedimgHTTPCache
import FeedimgModel
import LoopbackServer
import Synchronization
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Slots whose view changes its size, or whose feed updates the item.
@Suite(.timeLimit(.minutes(10))) struct ResizedSlotTests {
  /// 8 × 8 pixels.
  private static let picture = Reply.response(200, [("Content-Type", "image/jpeg")], body: SampleImage.jpeg)

  private static func square(_ side: Double, scale: Double = 1) -> DecodeRequest {
    DecodeRequest(DisplaySize(width: side, height: side, scale: scale))
  }

  private static func item(_ server: LoopbackServer) throws -> FeedItem {
    var item = try TestLoader.item(server, original: "/a")
    item.placeholder = Placeholder(color: "#336699")
    return item
  }

  @Test(arguments: [
    (square(5), 5, "a little larger"), (square(3), 3, "smaller"),
    (square(4, scale: 2), 8, "on a denser screen"),
    (DecodeRequest(), 8, "in full size"),
  ])
  func `an image stays until the pixels of the new size are ready`(
    request: DecodeRequest,
    side: Int,
    what: String
  ) async throws {
    let server = try LoopbackServer { _ in Self.picture }
    let test = try TestLoader(memoryLimit: .mebibytes(1), decoder: CodecDecoder())
    let item = try Self.item(server)
    let slot = test.loader.slot()
    slot.show(item, pixels: Self.square(4))
    let before = await slot.first { !$0.isLoading }
    slot.show(item, pixels: request)
    #expect(slot.presentation?.shown == .original, "\(what)")
    #expect(before?.pixels?.size == PixelSize(width: 4, height: 4))
    let after = await slot.first { !$0.isLoading }
    #expect(after?.pixels?.size == PixelSize(width: side, height: side), "\(what)")
    #expect(server.log.count(of: "/a") == 1)
  }

  @Test func `of sizes that change faster than the decoder works, the latest is decoded`() async throws {
    let server = try LoopbackServer { _ in Self.picture }
    let decoder = HeldDecoder(isHeld: false, width: 1)
    let test = try TestLoader(decoder: decoder)
    let item = try Self.item(server)
    let slot = test.loader.slot()
    slot.show(item, pixels: Self.square(400))
    _ = await slot.first { !$0.isLoading }
    decoder.hold()
    slot.show(item, pixels: Self.square(401))
    while decoder.asked.all.count < 2 { await Task.yield() }
    for side in 402...460 {
      slot.show(item, pixels: Self.square(Double(side)))
      #expect(slot.presentation?.shown == .original && slot.presentation?.isLoading == true)
    }
    decoder.release()
    #expect(await slot.first { !$0.isLoading }?.shown == .original)
    #expect(decoder.asked.all.map { $0?.width } == [400, 401, 460])
    let stopped = decoder.stopped.load(ordering: .relaxed)
    #expect(stopped == 0)
  }

  @Test func `decoding continues to the latest size, also for an image that must not be stored`()
    async throws
  {
    let fields = [("Content-Type", "image/jpeg"), ("Cache-Control", "no-store")]
    let server = try LoopbackServer { _ in .response(200, fields, body: SampleImage.jpeg) }
    let decoder = HeldDecoder(isHeld: false, width: 1)
    let test = try TestLoader(decoder: decoder)
    let item = try Self.item(server)
    let slot = test.loader.slot()
    slot.show(item, pixels: Self.square(400))
    _ = await slot.first { !$0.isLoading }
    decoder.hold()
    for side in [401, 402, 403] {
      slot.show(item, pixels: Self.square(Double(side)))
      while decoder.asked.all.count < 2 { await Task.yield() }
    }
    decoder.release()
    #expect(await slot.first { !$0.isLoading }?.image?.request == Self.square(403))
    #expect(decoder.asked.all.map { $0?.width } == [400, 401, 403])
    #expect(server.log.count(of: "/a") == 1)
  }

  @Test func `pixels in memory are shown at once, and no older ones replace them`()
    async throws
  {
    let server = try LoopbackServer { _ in Self.picture }
    let decoder = HeldDecoder(isHeld: false)
    let test = try TestLoader(decoder: decoder)
    let item = try Self.item(server)
    _ = try await test.loader.load(item, pixels: Self.square(9))
    let slot = test.loader.slot()
    slot.show(item, pixels: Self.square(4))
    _ = await slot.first { !$0.isLoading }
    decoder.hold()
    slot.show(item, pixels: Self.square(5))
    while decoder.asked.all.count < 3 { await Task.yield() }
    slot.show(item, pixels: Self.square(9))
    let exact = slot.presentation
    #expect(exact?.shown == .original)
    decoder.release()
    #expect(await slot.first { !$0.isLoading }?.image?.bitmap == exact?.image?.bitmap)
    #expect(decoder.asked.all.map { $0?.width } == [9, 4, 5])
  }

  @Test func `a transfer continues while the size changes`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .stalled(SampleImage.jpeg, after: 100, until: gate) }
    let test = try TestLoader(decoder: CodecDecoder(), time: ManualTime().time)
    let item = try Self.item(server)
    let slot = test.loader.slot()
    for side in 2...6 {
      slot.show(item, pixels: Self.square(Double(side)))
      #expect(await slot.first { $0.progress != nil }?.progress?.received == ByteCount(100))
    }
    gate.open()
    let last = await slot.first { !$0.isLoading }
    #expect(last?.pixels?.size == PixelSize(width: 6, height: 6), "the last request")
    #expect(server.log.count(of: "/a") == 1 && server.log.closedByClient == 0)
  }

  @Test(arguments: [false, true])
  func `other changes to an item in a feed cause no flicker`(isDecoded: Bool) async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .stalled(SampleImage.jpeg, after: 100, until: gate) }
    let test = try TestLoader(decoder: CodecDecoder(), time: ManualTime().time)
    let pixels = isDecoded ? Self.square(2) : nil
    var item = try Self.item(server)
    let slot = test.loader.slot()
    slot.show(item, pixels: pixels)
    _ = await slot.first { $0.progress != nil }
    let changes: [(inout FeedItem) -> Void] = [
      { $0.alternativeText = "a cat" }, { $0.page = "http://x.example/" }, { $0.id = "7" },
      { $0.placeholder = Placeholder(color: "#123456") },
    ]
    for change in changes {
      change(&item)
      slot.show(item, pixels: pixels)
      #expect(slot.presentation?.item == item && slot.presentation?.progress != nil)
      #expect(slot.presentation?.content == .placeholder(item.placeholder))
    }
    gate.open()
    let shown = await slot.first { !$0.isLoading }
    #expect(shown?.shown == .original && shown?.item == item)
    item.alternativeText = "a dog"
    slot.show(item, pixels: pixels)
    let told = slot.presentation
    #expect(told?.item == item && told?.image?.bytes == SampleImage.jpeg && told?.pixels == shown?.pixels)
    #expect(server.log.count(of: "/a") == 1 && server.log.closedByClient == 0)
  }

  @Test func `an image with another URL is replaced, although the item has the same name`() async throws {
    let server = try LoopbackServer { _ in Self.picture }
    let test = try TestLoader(decoder: CodecDecoder())
    var item = try Self.item(server)
    item.id = "7"
    let slot = test.loader.slot()
    slot.show(item, pixels: Self.square(4))
    _ = await slot.first { !$0.isLoading }
    item.original = try TestLoader.item(server, original: "/b").original
    slot.show(item, pixels: Self.square(4))
    #expect(slot.presentation?.shown == .placeholder)
    #expect(await slot.first { !$0.isLoading }?.image?.variant == item.original)
  }

  @Test func `an image stays when its thumbnail changes or memory evicts it`() async throws {
    let server = try LoopbackServer { _ in Self.picture }
    let test = try TestLoader(decoder: CodecDecoder())
    var item = try Self.item(server)
    let slot = test.loader.slot()
    slot.show(item, pixels: Self.square(4))
    _ = await slot.first { !$0.isLoading }
    item.thumbnail = try TestLoader.item(server, thumbnail: "/s").thumbnail
    test.loader.resources.storage.memory.remove(try #require(item.original?.url.key))
    slot.show(item, pixels: Self.square(5))
    #expect(slot.presentation?.image?.variant == item.original)
    #expect(await slot.first { !$0.isLoading }?.pixels?.size == PixelSize(width: 5, height: 5))
    #expect(server.log.count(of: "/a") == 1)
  }

  @Test(arguments: [
    (DecodeRequest(DisplaySize(width: 4, height: 4), format: .bgra), "with its bytes in another order"),
    (DecodeRequest(DisplaySize(width: 4, height: 4, fitting: .fill)), "cut in another way"),
    (nil, "as bytes alone"),
  ])
  func `an image that cannot be drawn as it is, is decoded again`(
    request: DecodeRequest?,
    what: String
  ) async throws {
    let server = try LoopbackServer { _ in Self.picture }
    let test = try TestLoader(decoder: CodecDecoder())
    let item = try Self.item(server)
    let slot = test.loader.slot()
    slot.show(item, pixels: Self.square(4))
    _ = await slot.first { !$0.isLoading }
    slot.show(item, pixels: request)
    #expect(slot.presentation?.image?.bitmap == nil, "\(what)")
    let last = await slot.first { !$0.isLoading }
    #expect(last?.image?.bitmap?.format == request?.format, "\(what)")
  }

  @Test(arguments: [true, false])
  func `a transfer continues for another view that takes over`(isClearedFirst: Bool) async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .stalled(SampleImage.jpeg, after: 100, until: gate) }
    let test = try TestLoader(decoder: CodecDecoder(), time: ManualTime().time)
    let item = try Self.item(server)
    let (row, detail) = (test.loader.slot(), test.loader.slot())
    row.show(item, pixels: Self.square(2))
    _ = await row.first { $0.progress != nil }
    if isClearedFirst { row.clear() }
    detail.show(item, pixels: Self.square(8))
    if !isClearedFirst { row.clear() }
    #expect(row.presentation == nil)
    #expect(await detail.first { $0.progress != nil }?.progress?.received == ByteCount(100))
    gate.open()
    #expect(await detail.first { !$0.isLoading }?.pixels?.size == PixelSize(width: 8, height: 8))
    #expect(server.log.count(of: "/a") == 1 && server.log.closedByClient == 0)
  }

  @Test func `rows that change places share their transfers`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .stalled(SampleImage.jpeg, after: 100, until: gate) }
    let time = ManualTime()
    let test = try TestLoader(time: time.time)
    let items = try ["/a", "/b"].map { try TestLoader.item(server, original: $0) }
    let slots = [test.loader.slot(), test.loader.slot()]
    for (slot, item) in zip(slots, items) { slot.show(item) }
    for slot in slots { _ = await slot.first { $0.progress != nil } }
    for (slot, item) in zip(slots, items.reversed()) { slot.show(item) }
    for slot in slots { #expect(await slot.first { $0.progress != nil } != nil) }
    gate.open()
    for slot in slots { #expect(await slot.first { !$0.isLoading }?.shown == .original) }
    #expect(server.log.requests.count == 2 && server.log.closedByClient == 0)
  }

  @Test func `a transfer without a view stops after a moment`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .stalled(SampleImage.jpeg, after: 100, until: gate) }
    let time = ManualTime()
    let test = try TestLoader(time: time.time)
    let slot = test.loader.slot()
    slot.show(try Self.item(server))
    _ = await slot.first { $0.progress != nil }
    slot.clear()
    while server.log.closedByClient == 0 {
      time.pass(.milliseconds(50))
      await Task.yield()
    }
    gate.open()
  }
}
