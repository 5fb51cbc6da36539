import FeedimgDecoding
import FeedimgHTTPCache
import FeedimgModel
import LoopbackServer
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// The scans of a progressive JPEG that slots show during its transfer.
@Suite(.timeLimit(.minutes(10))) struct SlotScanTests {
  /// A size of a quarter of the picture, which needs more than an eighth.
  private static let pixels = DecodeRequest(DisplaySize(width: 64, height: 48))

  @Test func `scans are shown one after another, then the image`() async throws {
    let bytes = try Clouds.bytes()
    let (one, two) = (Gate(), Gate())
    let server = try LoopbackServer { _ in
      let head = Reply.head(200, [("Content-Length", String(bytes.count))])
      return Reply(
        [
          .send(head + bytes[..<900]), .wait(one), .send(Array(bytes[900..<3300])), .wait(two),
          .send(Array(bytes[3300...])),
        ],
        keepsConnection: true
      )
    }
    let test = try TestLoader(decoder: CodecDecoder())
    let item = try TestLoader.item(server, original: "/a.jpg")
    let slot = test.loader.slot()
    slot.show(item, pixels: Self.pixels)
    let coarse = await slot.first { $0.scan != nil }
    #expect(coarse?.shown == .placeholder && coarse?.isLoading == true)
    #expect(coarse?.pixels == coarse?.scan?.bitmap)
    #expect(coarse?.scan?.bitmap.size == PixelSize(width: 64, height: 48))
    #expect(coarse?.scan?.detail == PixelSize(width: 32, height: 24), "an eighth of each side is known")
    #expect(coarse?.scan?.variant == item.original)
    let late = test.loader.slot()
    late.show(item, pixels: Self.pixels)
    #expect(await late.first { $0.scan != nil }?.scan == coarse?.scan, "a late subscriber gets it too")
    let plain = test.loader.slot()
    plain.show(item)
    one.open()
    let fine = await slot.first { $0.scan?.length != coarse?.scan?.length }
    #expect(fine?.scan?.detail == PixelSize(width: 64, height: 48), "this size shows no more detail")
    two.open()
    for slot in [slot, late] {
      let last = await slot.first { !$0.isLoading }
      #expect(last?.scan == nil && last?.shown == .original && last?.pixels == last?.image?.bitmap)
    }
    #expect(await plain.first { !$0.isLoading }?.image?.bytes == bytes)
    #expect(server.log.count(of: "/a.jpg") == 1)
    #expect(test.loader.resources.storage.memory.decoded.count == 1, "scans are not kept")
  }

  @Test(arguments: [
    (true, "a cached thumbnail with fewer pixels"), (false, "a cached thumbnail with more pixels"),
  ])
  func `a scan replaces a thumbnail if it is sharper`(isSmall: Bool, what: String) async throws {
    let (gate, bytes) = (Gate(), try Clouds.bytes())
    // 8 × 8 pixels, or the whole of it.
    let thumbnail = isSmall ? SampleImage.jpeg : bytes
    let server = try LoopbackServer {
      $0.path == "/s" ? .response(body: thumbnail) : .stalled(bytes, after: 900, until: gate)
    }
    let test = try TestLoader(.cellular, decoder: CodecDecoder())
    let item = try TestLoader.item(server, original: "/a", thumbnail: "/s")
    _ = try await test.loader.load(item)
    test.network.become(.wifi)
    let slot = test.loader.slot()
    slot.show(item, pixels: Self.pixels)
    if isSmall {
      let shown = await slot.first { $0.scan != nil && $0.shown == .thumbnail }
      #expect(shown?.pixels == shown?.scan?.bitmap, "\(what)")
    } else {
      _ = await slot.first { $0.shown == .thumbnail && $0.progress != nil }
      let shown = slot.presentation
      #expect(shown?.pixels == shown?.image?.bitmap && shown?.scan == nil, "\(what)")
    }
    gate.open()
    #expect(await slot.first { !$0.isLoading }?.scan == nil)
  }

  @Test func `a scan stays when its transfer fails`() async throws {
    let (gate, bytes) = (Gate(), try Clouds.bytes())
    let server = try LoopbackServer { _ in .reset(bytes, after: 900, when: gate) }
    let test = try TestLoader(decoder: CodecDecoder())
    let slot = test.loader.slot()
    slot.show(try TestLoader.item(server, original: "/a"), pixels: Self.pixels)
    let shown = await slot.first { $0.scan != nil }
    gate.open()
    let last = await slot.first { !$0.isLoading }
    #expect(last?.error != nil && last?.shown == .placeholder)
    #expect(last?.scan == shown?.scan && last?.pixels != nil)
  }

  @Test func `scans continue when an interrupted transfer resumes`() async throws {
    let (one, two, bytes) = (Gate(), Gate(), try Clouds.bytes())
    let (asked, time) = (RecordedValues<Bool>(), ManualTime())
    let server = try LoopbackServer { _ in
      asked.add(true)
      return asked.all.count == 1
        ? .reset(bytes, after: 900, when: one) : .stalled(bytes, after: 3300, until: two)
    }
    let test = try TestLoader(decoder: CodecDecoder(), time: time.time, tries: 2)
    let slot = test.loader.slot()
    slot.show(try TestLoader.item(server, original: "/a"), pixels: Self.pixels)
    let coarse = await slot.first { $0.scan != nil }
    one.open()
    // Without another scan, this loop hangs until the time limit.
    while slot.presentation?.scan?.length == coarse?.scan?.length {
      time.passToNext()
      await Task.yield()
    }
    #expect(slot.presentation?.scan?.detail == PixelSize(width: 64, height: 48))
    two.open()
    #expect(await slot.first { !$0.isLoading }?.image?.bytes == bytes)
  }

  @Test func `a view that shows another item no longer has the scans of the first`() async throws {
    let (gate, bytes) = (Gate(), try Clouds.bytes())
    let server = try LoopbackServer {
      $0.path == "/a" ? .stalled(bytes, after: 900, until: gate) : .response(404)
    }
    let test = try TestLoader(decoder: CodecDecoder())
    let slot = test.loader.slot()
    slot.show(try TestLoader.item(server, original: "/a"), pixels: Self.pixels)
    _ = await slot.first { $0.scan != nil }
    slot.show(try TestLoader.item(server, original: "/b"), pixels: Self.pixels)
    #expect(slot.presentation?.scan == nil)
    let last = await slot.first { !$0.isLoading }
    #expect(last?.error?.status == 404 && last?.scan == nil && last?.pixels == nil)
    gate.open()
  }
}
