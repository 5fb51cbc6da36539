import FeedimgModel
import Glibc
import Testing

@testable import FeedimgDecoding

/// A picture in `Fixtures`, which `Fixtures/make` created with common tools.
enum Fixture {
  private static let folder = #filePath.split(separator: "/").dropLast().joined(separator: "/")

  static func bytes(_ name: String) throws -> [UInt8] {
    let file = try #require(fopen("/\(folder)/Fixtures/\(name)", "re"), "there is no fixture `\(name)`")
    defer { fclose(file) }
    var content: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while case let count = fread(&chunk, 1, chunk.count, file), count > 0 { content += chunk[..<count] }
    return content
  }

  /// Complete pictures of every kind.
  static let whole: [String] =
    DecodingTests.kinds.map(\.file) + DecodingTests.animations.map(\.0) + [
      "gray.jpg", "turned-6.jpg", "bits.png", "fading.png", "fading.webp", "colors.avif", "turned.avif",
      "part.avif", "interlaced.gif",
    ]

  static func decode(
    _ bytes: [UInt8],
    _ request: DecodeRequest = DecodeRequest(),
    _ limits: DecodingLimits = DecodingLimits()
  ) throws(DecodeError) -> DecodedImage {
    try CodecDecoder.decode(bytes, request, limits, CancellationFlag())
  }

  static func animation(
    _ bytes: [UInt8],
    _ request: DecodeRequest = DecodeRequest(),
    _ limits: DecodingLimits = DecodingLimits()
  ) throws(DecodeError) -> ImageAnimation {
    try CodecDecoder.animation(bytes, request, limits, CancellationFlag())
  }
}

extension Bitmap {
  /// The four bytes of the pixel at fractions of the width and height.
  func pixel(_ across: Double, _ down: Double) -> [Int] {
    let column = min(Int(across * Double(size.width)), size.width - 1)
    let row = min(Int(down * Double(size.height)), size.height - 1)
    let start = row * stride + column * 4
    return bytes[start..<start + 4].map(Int.init)
  }

  /// Whether a pixel has about this colour.
  func isAbout(_ color: [Int], _ across: Double, _ down: Double, within tolerance: Int) -> Bool {
    zip(pixel(across, down), color).allSatisfy { abs($0 - $1) <= tolerance }
  }
}
