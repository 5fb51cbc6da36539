import Feedimg
import FeedimgDecoding
import FeedimgTesting
import Foundation
import MoreFormats
import Testing

/// The example decoder of HEIC, JPEG XL and SVG, through a loader.
///
/// `heif-enc -q 90` and `cjxl -d 0` made the fixtures from a picture that is red on the left and blue on the right.
@Suite struct MoreFormatsTests {
  private static let svg = """
    <svg xmlns="http://www.w3.org/2000/svg" width="32" height="16">
    <path fill="#f00" d="M0 0h16v16H0z"/><path fill="#00f" d="M16 0h16v16H16z"/></svg>
    """

  private static func bytes(_ name: String) throws -> [UInt8] {
    if name == "two.svg" { return Array(svg.utf8) }
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    return try [UInt8](Data(contentsOf: folder.appending(path: "Fixtures/\(name)")))
  }

  private static func loaded(
    _ name: String,
    _ type: String,
    bytes: [UInt8],
    _ request: DecodeRequest
  ) async throws -> LoadedImage {
    var configuration = ImageLoader.Configuration(environment: [:])
    configuration.decoder = MoreFormats(beside: CodecDecoder())
    let test = try TestEnvironment(configuration: configuration)
    let url = "https://x.example/\(name)"
    test.server[url] = .image(bytes, headers: ["Content-Type": type])
    let item = FeedItem(original: ImageVariant(role: .original, url: try ImageURL(url)), thumbnail: nil)
    return try await test.loader.load(item, pixels: request)
  }

  @Test(arguments: [("two.heic", "image/heic"), ("two.jxl", "image/jxl"), ("two.svg", "image/svg+xml")])
  func `a picture is decoded at the size of its view`(_ name: String, _ type: String) async throws {
    let request = DecodeRequest(DisplaySize(width: 8, height: 8), format: .bgra)
    let image = try await Self.loaded(name, type, bytes: try Self.bytes(name), request)
    let bitmap = try #require(image.bitmap)
    #expect(bitmap.size == PixelSize(width: 8, height: 4) && bitmap.isOpaque)
    let pixels = (0..<8).map { Array(bitmap.bytes[$0 * 4..<$0 * 4 + 4]) }
    #expect(pixels[0][2] > 240 && pixels[0][0] < 15, "red on the left")
    #expect(pixels[7][0] > 240 && pixels[7][2] < 15, "blue on the right")
  }

  @Test(arguments: [("two.heic", "image/heic"), ("two.jxl", "image/jxl"), ("two.svg", "image/svg+xml")])
  func `a damaged picture is an error`(_ name: String, _ type: String) async throws {
    let whole = try Self.bytes(name)
    let decoder = MoreFormats(beside: CodecDecoder())
    let part = Array(whole.prefix(whole.count - 12))
    let error = await #expect(throws: DecodeError.self) {
      try await decoder.decode(part, DecodeRequest(DisplaySize(width: 8, height: 8)))
    }
    #expect(error?.message.contains("damaged") == true)
  }
}
