import Feedimg
import LoopbackServer
import Synchronization
import Testing

/// Processors and a decoder of the program; both use the public API alone.
@Suite(.timeLimit(.minutes(10))) struct ProcessorTests {
  /// Decodes every image as white pixels of one size, and counts its calls.
  private final class WhiteDecoder: ImageDecoding {
    let mediaTypes = ["image/jpeg"]
    let count = Atomic(0)

    func decode(_ bytes: [UInt8], _ request: DecodeRequest) async throws(DecodeError) -> DecodedImage {
      count.add(1, ordering: .relaxed)
      let size = PixelSize(width: 8, height: 4)
      let white = [UInt8](repeating: 255, count: 128)
      guard let bitmap = Bitmap(size: size, format: request.format, isOpaque: true, bytes: white) else {
        throw DecodeError(.unavailable, "no pixels")
      }
      return DecodedImage(bitmap: bitmap, sourceSize: size)
    }

    func animation(_ bytes: [UInt8], _ request: DecodeRequest) async throws(DecodeError) -> ImageAnimation {
      let image = try await decode(bytes, request)
      return ImageAnimation(frames: [.init(bitmap: image.bitmap, duration: .zero)], loopCount: 1)
    }
  }

  /// Sets the first byte.
  private struct Mark: ImageProcessing {
    var value: UInt8
    var identifier: String { "mark \(value)" }

    func process(_ bitmap: Bitmap) throws(DecodeError) -> Bitmap {
      guard value != 0 else { throw DecodeError(.damaged, "no mark") }
      var bytes = bitmap.bytes
      bytes[0] = value
      guard let marked = Bitmap(size: bitmap.size, format: bitmap.format, isOpaque: false, bytes: bytes)
      else {
        throw DecodeError(.unavailable, "no pixels")
      }
      return marked
    }
  }

  private let decoder = WhiteDecoder()
  private let item: FeedItem
  private let server: LoopbackServer
  private let size = DisplaySize(width: 8, height: 8)

  init() throws {
    server = try LoopbackServer { _ in
      .response(200, [("Cache-Control", "max-age=60")], body: SampleImage.jpeg)
    }
    item = try TestLoader.item(server, original: "/a.jpg")
  }

  private func request(_ processors: any ImageProcessing...) -> DecodeRequest {
    DecodeRequest(size, processors: processors)
  }

  @Test func `processors run in order, and memory keeps each chain's pixels`() async throws {
    let test = try TestLoader(decoder: decoder)
    for _ in 0..<2 {
      let first = try await test.loader.load(item, pixels: request(Mark(value: 1), Mark(value: 2)))
      #expect(first.bitmap?.bytes.first == 2)
      let second = try await test.loader.load(item, pixels: request(Mark(value: 2), Mark(value: 1)))
      #expect(second.bitmap?.bytes.first == 1)
      #expect(try await test.loader.load(item, pixels: request()).bitmap?.bytes.first == 255)
    }
    #expect(decoder.count.load(ordering: .relaxed) == 3)
  }

  @Test func `the frames of an animation are processed`() async throws {
    let test = try TestLoader(decoder: decoder)
    let image = try await test.loader.load(item)
    let request = request(Mark(value: 7))
    #expect(try await test.loader.animation(image, request).frames.map { $0.bitmap.bytes[0] } == [7])
    for try await frame in try await test.loader.frames(of: image, request) {
      #expect(frame.bitmap.bytes[0] == 7)
    }
  }

  @Test func `a processor that fails is a failure to decode`() async throws {
    let test = try TestLoader(decoder: decoder)
    let (item, request) = (item, request(Mark(value: 0)))
    let error = await #expect(throws: LoadError.self) { try await test.loader.load(item, pixels: request) }
    #expect(error?.code == .notAnImage && error?.message.contains("no mark") == true)
  }

  @Test func `rounded corners are transparent, and the rest stays`() async throws {
    let test = try TestLoader(decoder: decoder)
    let corners = request(RoundedCorners(radius: 100))
    let bitmap = try #require(try await test.loader.load(item, pixels: corners).bitmap)
    let alpha = (0..<4).map { y in (0..<8).map { x in bitmap.bytes[y * bitmap.stride + x * 4 + 3] } }
    #expect(!bitmap.isOpaque && alpha == alpha.reversed() && alpha.allSatisfy { $0 == $0.reversed() })
    #expect(alpha[0][0] < 128 && alpha[1][1] == 255 && alpha[0][4] == 255)
  }

  @Test func `a resized image has the mean of its pixels and is never enlarged`() throws {
    let bytes: [UInt8] = [0, 0, 0, 255, 100, 0, 0, 255]
    let size = PixelSize(width: 2, height: 1)
    let bitmap = try #require(Bitmap(size: size, format: .rgba, isOpaque: true, bytes: bytes))
    #expect(try Resize(to: PixelSize(width: 1, height: 5)).process(bitmap).bytes == [50, 0, 0, 255])
    #expect(try Resize(to: PixelSize(width: 9, height: 9)).process(bitmap) == bitmap)
  }

  @Test func `a blur spreads a point to all sides and keeps even areas`() throws {
    let size = PixelSize(width: 9, height: 9)
    var bytes = [UInt8](repeating: 0, count: 324)
    for pixel in 0..<81 { bytes[pixel * 4 + 3] = 255 }
    bytes[(4 * 9 + 4) * 4] = 255
    let bitmap = try #require(Bitmap(size: size, format: .rgba, isOpaque: true, bytes: bytes))
    let blurred = try Blur(radius: 3).process(bitmap)
    let red = (0..<9).map { y in (0..<9).map { x in blurred.bytes[(y * 9 + x) * 4] } }
    #expect(red == red.reversed() && red.allSatisfy { $0 == $0.reversed() })
    #expect(red[4][4] < 64 && red[4][2] > 0 && red[4][2] < red[4][3] && red[4][0] == 0)
    #expect((0..<81).allSatisfy { blurred.bytes[$0 * 4 + 3] == 255 } && blurred.isOpaque)
    #expect(try Blur(radius: 0).process(bitmap) == bitmap)
  }

  @Test(arguments: [
    (1.0, [10, 20, 30, 255, 5, 10, 15, 128]), (0.5, [55, 60, 65, 255, 28, 30, 33, 128]),
    (0, [100, 100, 100, 255, 50, 50, 50, 128]), (.nan, [100, 100, 100, 255, 50, 50, 50, 128]),
  ])
  func `a tint paints a colour and keeps the shape`(_ opacity: Double, _ expected: [UInt8]) throws {
    let bytes: [UInt8] = [100, 100, 100, 255, 50, 50, 50, 128]
    let size = PixelSize(width: 2, height: 1)
    let bitmap = try #require(Bitmap(size: size, format: .rgba, isOpaque: false, bytes: bytes))
    #expect(try Tint(red: 10, green: 20, blue: 30, opacity: opacity).process(bitmap).bytes == expected)
  }

  @Test func `a bitmap of another length is refused`() {
    let size = PixelSize(width: 2, height: 1)
    #expect(Bitmap(size: size, format: .rgba, isOpaque: true, bytes: [0, 0, 0, 0]) == nil)
  }
}
