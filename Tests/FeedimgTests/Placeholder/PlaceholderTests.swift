import Feedimg
import FeedimgModel
import Testing

/// Placeholders as pixels, compared with the reference implementations.
struct PlaceholderTests {
  struct Vector: Sendable, CustomTestStringConvertible {
    var placeholder: Placeholder
    var aspect: Double?
    var size: PixelSize
    /// Six positions: column, row, then red, green, blue and alpha, not premultiplied.
    var pixels: [[Int]]
    var testDescription: String { placeholder.blurHash ?? placeholder.thumbHash ?? "" }
  }

  private static func blur(
    _ text: String,
    _ aspect: Double,
    _ width: Int,
    _ height: Int,
    _ pixels: [[Int]]
  ) -> Vector {
    Vector(
      placeholder: Placeholder(blurHash: text),
      aspect: aspect,
      size: PixelSize(width: width, height: height),
      pixels: pixels
    )
  }

  private static func thumb(_ text: String, _ width: Int, _ height: Int, _ pixels: [[Int]]) -> Vector {
    let size = PixelSize(width: width, height: height)
    return Vector(placeholder: Placeholder(thumbHash: text), size: size, pixels: pixels)
  }

  /// From woltapp/blurhash `C/decode.c` and evanw/thumbhash `js/thumbhash.js`.
  static let vectors = [
    blur(
      "LEHV6nWB2yk8pyo0adR*.7kCMdnj",
      1.5,
      32,
      21,
      [
        [0, 0, 135, 164, 177, 255], [31, 0, 137, 166, 181, 255], [16, 10, 158, 127, 110, 255],
        [0, 20, 136, 144, 147, 255], [31, 20, 132, 142, 147, 255], [8, 10, 142, 135, 140, 255],
      ]
    ),
    blur(
      "LGF5]+Yk^6#M@-5c,1J5@[or[Q6.",
      1,
      32,
      32,
      [
        [0, 0, 176, 118, 163, 255], [31, 0, 225, 84, 129, 255], [16, 16, 107, 126, 130, 255],
        [0, 31, 171, 161, 88, 255], [31, 31, 143, 97, 98, 255], [8, 16, 69, 149, 197, 255],
      ]
    ),
    blur(
      "L6PZfSi_.AyE_3t7t7R**0o#DgR4",
      0.75,
      24,
      32,
      [
        [0, 0, 229, 228, 226, 255], [23, 0, 227, 226, 222, 255], [12, 16, 214, 205, 194, 255],
        [0, 31, 218, 217, 215, 255], [23, 31, 217, 216, 213, 255], [6, 16, 218, 208, 201, 255],
      ]
    ),
    blur("00TI:j", 1, 32, 32, [[0, 0, 255, 0, 0, 255], [31, 31, 255, 0, 0, 255]]),
    thumb(
      "1QcSHQRnh493V4dIh4eXh1h4kJUI",
      23,
      32,
      [
        [0, 0, 64, 77, 113, 255], [22, 0, 84, 109, 139, 255], [11, 16, 140, 109, 88, 255],
        [0, 31, 0, 12, 42, 255], [22, 31, 0, 4, 39, 255], [5, 16, 112, 85, 72, 255],
      ]
    ),
    thumb(
      "3PcNNYSFeXh/d3eld0iHZoZgVwh2",
      32,
      23,
      [
        [0, 0, 47, 82, 154, 255], [31, 0, 100, 113, 147, 255], [16, 11, 110, 114, 115, 255],
        [0, 22, 99, 86, 36, 255], [31, 22, 76, 57, 10, 255], [8, 11, 77, 84, 89, 255],
      ]
    ),
    thumb(
      "HBkSHYSIeHiPiHh8eJd4eTN0EEQG",
      32,
      23,
      [
        [0, 0, 213, 255, 255, 255], [31, 0, 230, 235, 238, 255], [16, 11, 141, 98, 34, 255],
        [0, 22, 54, 75, 78, 255], [31, 22, 95, 90, 74, 255], [8, 11, 108, 87, 41, 255],
      ]
    ),
    thumb(
      "YhyHHIw4eHiwiId4iAd7eE8HeIeHeIiICA==",
      32,
      26,
      [
        [0, 0, 255, 88, 49, 67], [31, 0, 245, 27, 45, 255], [16, 13, 255, 117, 42, 148],
        [0, 25, 249, 144, 41, 13], [31, 25, 238, 198, 38, 230], [8, 13, 255, 115, 42, 90],
      ]
    ),
  ]

  @Test(arguments: vectors, Bitmap.Format.allCases)
  func `a placeholder decodes to the pixels of the reference implementation`(
    _ vector: Vector,
    _ format: Bitmap.Format
  ) throws {
    let bitmap = try #require(vector.placeholder.bitmap(aspect: vector.aspect, format: format))
    #expect(bitmap.size == vector.size)
    #expect(bitmap.isOpaque == vector.pixels.allSatisfy { $0[5] == 255 })
    for pixel in vector.pixels {
      let start = pixel[1] * bitmap.stride + pixel[0] * 4
      let found = bitmap.bytes[start..<start + 4].map(Int.init)
      let order = format == .rgba ? [2, 3, 4] : [4, 3, 2]
      // The reference rounds before it multiplies by alpha.
      let expected = order.map { pixel[$0] * pixel[5] / 255 } + [pixel[5]]
      for (one, other) in zip(found, expected) {
        #expect(abs(one - other) <= 2, "\(found) is not \(expected)")
      }
    }
  }

  @Test func `the best readable placeholder is used`() {
    let broken = Placeholder(blurHash: "00TI:j", thumbHash: "not one", color: "#010203")
    #expect(broken.bitmap()?.bytes.prefix(4) == [255, 0, 0, 255])
    let color = Placeholder(blurHash: "no", color: "#010203")
    #expect(color.bitmap()?.bytes == [1, 2, 3, 255])
    #expect(color.bitmap(format: .bgra)?.bytes == [3, 2, 1, 255])
    #expect(Placeholder().bitmap() == nil)
  }

  static let refused = [
    Placeholder(blurHash: ""), Placeholder(blurHash: "LEHV6nWB2yk8pyo0adR*.7kCMdn"),
    Placeholder(blurHash: "~~~~~~"),
    Placeholder(blurHash: "00~~~~"), Placeholder(blurHash: "00TI:ä"), Placeholder(thumbHash: ""),
    Placeholder(thumbHash: "1QcS"), Placeholder(thumbHash: "1QcSHQRnh493V4dIh4eXh1h4kJ"),
    Placeholder(thumbHash: "AAAAAAAA"), Placeholder(thumbHash: "1Q=cSHQR"), Placeholder(color: "#12345"),
    Placeholder(color: "red"), Placeholder(color: "#-12345"), Placeholder(color: "#12345g"),
  ]

  @Test(arguments: refused) func `invalid placeholders are ignored`(_ placeholder: Placeholder) {
    #expect(placeholder.bitmap() == nil)
  }

  @Test func `extreme aspect ratios and empty bytes are safe`() {
    for aspect in [-1, 0, .nan, .infinity, 1e-9, 1e9] {
      #expect(Placeholder(blurHash: "00TI:j").bitmap(aspect: aspect) != nil)
    }
    for byte in UInt8.min...UInt8.max {
      for count in 0..<30 {
        var bytes = [UInt8](repeating: byte, count: count)
        if count > 3 { bytes[3] = byte &* 7 }
        _ = Placeholder(thumbHash: Self.base64(bytes)).bitmap()
      }
    }
  }

  private static func base64(_ bytes: [UInt8]) -> String {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    var (text, bits, count) = ("", 0, 0)
    for byte in bytes + [0] {
      bits = (bits << 8 | Int(byte)) & 0xFFFF
      count += 8
      while count >= 6, text.count * 6 < bytes.count * 8 {
        count -= 6
        text.append(digits[bits >> count & 63])
      }
    }
    return text
  }
}
