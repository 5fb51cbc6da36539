import FeedimgDecoding
import FeedimgPipeline
import LoopbackServer
import Testing

@testable import Feedimg

/// Loads and slots of items with several sizes.
@Suite(.timeLimit(.minutes(10))) struct VariantSizeTests {
  private let server: LoopbackServer
  private let item: FeedItem
  private let pixels = DecodeRequest(DisplaySize(width: 400, height: 400, scale: 2))

  init() throws {
    let server = try LoopbackServer { _ in
      .response(200, [("Cache-Control", "max-age=60")], body: SampleImage.jpeg)
    }
    self.server = server
    func variant(_ role: ImageVariant.Role, _ width: Int) throws -> ImageVariant {
      ImageVariant(role: role, url: try ImageURL(server.url("/\(width).jpg")), width: width)
    }
    item = FeedItem(
      original: try variant(.original, 1600),
      thumbnail: try variant(.thumbnail, 320),
      sizes: [try variant(.original, 800)]
    )
  }

  @Test func `a load with pixels fetches the size of the view`() async throws {
    let test = try TestLoader(decoder: CodecDecoder())
    _ = try await test.loader.load(item, pixels: pixels)
    #expect(server.log.requests.map(\.target) == ["/800.jpg"])
    _ = try await test.loader.load(item)
    #expect(server.log.requests.map(\.target) == ["/800.jpg", "/1600.jpg"])
  }

  @Test func `one look-up in the cache answers for all sizes`() throws {
    var made: HeldStore?
    let test = try TestLoader(
      decoder: CodecDecoder(),
      store: { disk in
        let store = HeldStore(disk, holding: "nothing")
        made = store
        return store
      }
    )
    #expect(test.loader.sized(item, for: pixels).original?.width == 800)
    #expect(made?.lookUps == 1)
  }

  @Test func `the policy's word is a ceiling`() async throws {
    let test = try TestLoader(.cellular, decoder: CodecDecoder())
    _ = try await test.loader.load(item, pixels: pixels)
    #expect(server.log.requests.map(\.target) == ["/320.jpg"])
  }

  @Test func `a slot shows the size of its view, and keeps it when the item is bound again`() async throws {
    let test = try TestLoader(decoder: CodecDecoder())
    let slot = test.loader.slot()
    for _ in 0..<2 {
      slot.show(item, pixels: pixels)
      for await presentation in slot.presentations where !presentation.isLoading {
        #expect(presentation.image?.variant.width == 800)
        break
      }
    }
    #expect(server.log.requests.map(\.target) == ["/800.jpg"])
  }
}
