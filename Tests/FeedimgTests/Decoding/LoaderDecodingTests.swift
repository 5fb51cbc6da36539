import FeedimgModel
import LoopbackServer
import Synchronization
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Pixels of loaded images, from memory or from a decoder.
struct LoaderDecodingTests {
  /// Returns one pixel and counts its calls.
  private final class OnePixel: ImageDecoding {
    let mediaTypes = ["image/jpeg"]
    let count = Atomic(0)
    let isPartial: Bool

    init(isPartial: Bool = false) { self.isPartial = isPartial }

    func decode(_ bytes: [UInt8], _ request: DecodeRequest) async throws(DecodeError) -> DecodedImage {
      let number = UInt8(count.add(1, ordering: .relaxed).newValue)
      let size = PixelSize(width: 1, height: 1)
      guard
        let bitmap = Bitmap(
          size: size,
          format: request.format,
          isOpaque: true,
          bytes: [number, 0, 0, 255]
        )
      else { throw DecodeError(.damaged, "no pixel") }
      return DecodedImage(bitmap: bitmap, sourceSize: size, isPartial: isPartial, isAnimated: false)
    }

    func animation(_ bytes: [UInt8], _ request: DecodeRequest) async throws(DecodeError) -> ImageAnimation {
      throw DecodeError(.unknownFormat, "no animation")
    }
  }

  private static let picture = Reply.response(200, [("Content-Type", "image/jpeg")], body: SampleImage.jpeg)
  private static let small = DecodeRequest(DisplaySize(width: 10, height: 10))
  private static let large = DecodeRequest(DisplaySize(width: 10, height: 10, scale: 2))

  @Test func `pixels are stored by size, except partial ones`() async throws {
    let server = try LoopbackServer { _ in Self.picture }
    let decoder = OnePixel()
    let test = try TestLoader(decoder: decoder)
    let image = try await test.loader.load(try TestLoader.item(server, original: "/a.jpg"))
    #expect(try await test.loader.decode(image, Self.small).bytes.first == 1)
    #expect(try await test.loader.decode(image, Self.small).bytes.first == 1)
    #expect(try await test.loader.decode(image, Self.large).bytes.first == 2)
    #expect(try await test.loader.decode(image, DecodeRequest()).bytes.first == 3)
    #expect(
      try await test.loader.decode(image, DecodeRequest()).bytes.first == 4,
      "without a size, so not stored"
    )
    var other = image
    other.bytes.append(0)
    #expect(
      try await test.loader.decode(other, Self.small).bytes.first == 5,
      "another image with the same URL"
    )
  }

  @Test func `partial pixels are not stored`() async throws {
    let server = try LoopbackServer { _ in Self.picture }
    let test = try TestLoader(decoder: OnePixel(isPartial: true))
    let image = try await test.loader.load(try TestLoader.item(server, original: "/a.jpg"))
    #expect(try await test.loader.decode(image, Self.small).bytes.first == 1)
    #expect(try await test.loader.decode(image, Self.small).bytes.first == 2)
  }

  @Test func `without a decoder the error says so`() async throws {
    let server = try LoopbackServer { _ in Self.picture }
    let test = try TestLoader()
    let image = try await test.loader.load(try TestLoader.item(server, original: "/a.jpg"))
    do {
      _ = try await test.loader.decode(image, Self.small)
      Issue.record("it was decoded")
    } catch {
      #expect(error.code == .unavailable)
    }
  }
}
