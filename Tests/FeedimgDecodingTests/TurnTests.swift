import FeedimgModel
import Testing

@testable import FeedimgDecoding

/// Pictures that are stored rotated or mirrored, by EXIF or by their container.
struct TurnTests {
  /// The visible corners of the stored picture, numbered in reading order (CIPA DC-008, tag 0x0112).
  static let corners = [
    1: [0, 1, 2, 3], 2: [1, 0, 3, 2], 3: [3, 2, 1, 0], 4: [2, 3, 0, 1],
    5: [0, 2, 1, 3], 6: [2, 0, 3, 1], 7: [3, 1, 2, 0], 8: [1, 3, 0, 2],
  ]

  private func isTurned(_ bytes: [UInt8], _ orientation: Int, within tolerance: Int) throws -> Bool {
    let bitmap = try Fixture.decode(bytes).bitmap
    let seen = try #require(Self.corners[orientation])
    let isAcross = orientation >= 5
    let upright = isAcross ? PixelSize(width: 48, height: 64) : PixelSize(width: 64, height: 48)
    guard bitmap.size == upright else { return false }
    return DecodingTests.fields.indices.allSatisfy { place in
      let (across, down, _) = DecodingTests.fields[place]
      return bitmap.isAbout(DecodingTests.fields[seen[place]].2, across, down, within: tolerance)
    }
  }

  /// A directory of one entry, in either byte order.
  private static func exif(_ orientation: UInt8, isLittle: Bool) -> [UInt8] {
    isLittle
      ? [0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0, 0, 0, 0, 0]
      : [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0]
  }

  /// Inserts chunks before the first of a kind.
  private func png(_ file: String, _ chunks: [[UInt8]], before name: String) throws -> [UInt8] {
    var bytes = try Fixture.bytes(file)
    let pattern = Array(name.utf8)
    let place = try #require((8..<bytes.count - 4).first { Array(bytes[$0..<$0 + 4]) == pattern })
    bytes.insert(contentsOf: chunks.joined(), at: place - 4)
    return bytes
  }

  @Test(arguments: 1...8, ["fields.png", "interlaced.png"])
  func `a PNG follows its EXIF orientation, before or after its pixels`(
    _ orientation: Int,
    _ file: String
  ) throws {
    for isLittle in [false, true] {
      let exif = PNGBytes.Chunk(
        name: "eXIf",
        content: Self.exif(UInt8(orientation), isLittle: isLittle)
      )
      for place in ["IDAT", "IEND"] {
        let bytes = try png(file, [exif.bytes], before: place)
        #expect(try isTurned(bytes, orientation, within: 0), "before \(place)")
      }
    }
  }

  @Test func `of two EXIF chunks in a PNG, the first valid one applies`() throws {
    let three = PNGBytes.Chunk(name: "eXIf", content: Self.exif(3, isLittle: true)).bytes
    let six = PNGBytes.Chunk(name: "eXIf", content: Self.exif(6, isLittle: true)).bytes
    #expect(try isTurned(png("fields.png", [three, six], before: "IEND"), 3, within: 0))
    var wrong = six
    wrong[wrong.count - 1] ^= 1
    #expect(try isTurned(png("fields.png", [wrong, three], before: "IEND"), 3, within: 0))
    #expect(try isTurned(png("fields.png", [wrong], before: "IEND"), 1, within: 0), "a wrong checksum")
    let short = PNGBytes.Chunk(name: "eXIf", content: [0x49]).bytes
    #expect(try isTurned(png("fields.png", [short], before: "IEND"), 1, within: 0))
  }

  @Test func `EXIF that ends after the data of a PNG is ignored`() throws {
    let six = PNGBytes.Chunk(name: "eXIf", content: Self.exif(6, isLittle: true)).bytes
    let whole = try png("fields.png", [six], before: "IEND")
    for count in whole.count - 12 - six.count..<whole.count - 12 {
      #expect(try isTurned(Array(whole[..<count]), 1, within: 0), "\(count) bytes")
    }
    var long = six
    long.replaceSubrange(0..<4, with: [0x7F, 0xFF, 0xFF, 0xFF])
    #expect(try isTurned(png("fields.png", [long], before: "IEND"), 1, within: 0))
    long.replaceSubrange(0..<4, with: [0xFF, 0xFF, 0xFF, 0xFF])
    #expect(try isTurned(png("fields.png", [long], before: "IEND"), 1, within: 0))
  }

  @Test(arguments: 1...8) func `a WebP follows its EXIF orientation`(_ orientation: Int) throws {
    let plain = try Fixture.bytes("lossless.webp")
    for mark in [[], Array("Exif\0\0".utf8)] {
      let exif = mark + Self.exif(UInt8(orientation), isLittle: orientation % 2 == 0)
      // 64 by 48, each less one, with EXIF (WebP Container Specification, "Extended File Format").
      let head = Array("VP8X".utf8) + [10, 0, 0, 0, 0x08, 0, 0, 0, 63, 0, 0, 47, 0, 0]
      let chunk = Array("EXIF".utf8) + [UInt8(exif.count), 0, 0, 0] + exif
      let body = Array("WEBP".utf8) + head + plain.dropFirst(12) + chunk
      let bytes = Array("RIFF".utf8) + [UInt8(body.count & 255), UInt8(body.count >> 8), 0, 0] + body
      #expect(try isTurned(bytes, orientation, within: 0))
    }
  }

  /// Quarter turns anticlockwise, then a mirror: 0 exchanges top and bottom, 1 left and right (ISO/IEC
  /// 23008-12, §6.5.10 and §6.5.12).
  static let containers: [(turns: UInt8?, mirror: UInt8?, orientation: Int)] = [
    (0, nil, 1), (1, nil, 8), (2, nil, 3), (3, nil, 6), (nil, 0, 4), (nil, 1, 2),
    (0, 0, 4), (1, 0, 5), (2, 0, 2), (3, 0, 7), (0, 1, 2), (1, 1, 7), (2, 1, 4), (3, 1, 5),
  ]

  @Test(arguments: containers)
  func `an AVIF is rotated and then mirrored as its container says`(
    _ turns: UInt8?,
    _ mirror: UInt8?,
    _ orientation: Int
  ) throws {
    var bytes = try Fixture.bytes("mirrored.avif")
    for (name, value) in [("irot", turns), ("imir", mirror)] {
      let pattern = Array(name.utf8)
      let place = try #require((0..<bytes.count - 5).first { Array(bytes[$0..<$0 + 4]) == pattern })
      // An unknown property in place of a missing one. It is not essential.
      bytes.replaceSubrange(place..<place + 5, with: value.map { pattern + [$0] } ?? Array("free\0".utf8))
    }
    if turns == nil || mirror == nil { bytes = try optional(bytes) }
    #expect(try isTurned(bytes, orientation, within: 4))
  }

  /// Clears the essential flag of the picture's properties.
  private func optional(_ bytes: [UInt8]) throws -> [UInt8] {
    var bytes = bytes
    let pattern = Array("ipma".utf8)
    let place = try #require((0..<bytes.count - 4).first { Array(bytes[$0..<$0 + 4]) == pattern })
    // After version and flags: 4 bytes of items, 2 of the item, 1 of its properties.
    let count = Int(bytes[place + 14])
    for index in 0..<count { bytes[place + 15 + index] &= 0x7F }
    return bytes
  }
}
