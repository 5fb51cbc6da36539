/// A PNG made by a test: a row of pixels, with chunks that describe its colours.
struct PNGBytes {
  /// A chunk of a PNG.
  struct Chunk: Sendable {
    var name: String
    var content: [UInt8]

    var bytes: [UInt8] {
      let body = Array(name.utf8) + content
      return PNGBytes.number(UInt32(content.count)) + body + PNGBytes.number(PNGBytes.checksum(body))
    }

    /// The encoding exponent, times 100,000.
    static func gAMA(_ value: UInt32) -> Self { Self(name: "gAMA", content: PNGBytes.number(value)) }

    /// White, red, green and blue, x before y, times 100,000.
    static func cHRM(_ points: [UInt32]) -> Self {
      Self(name: "cHRM", content: points.flatMap(PNGBytes.number))
    }

    static func cICP(_ codes: UInt8...) -> Self { Self(name: "cICP", content: codes) }

    static let sRGB = Self(name: "sRGB", content: [0])
  }

  private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

  /// With alpha if a pixel has four numbers.
  static func make(_ pixels: [[UInt8]], _ chunks: [Chunk]) -> [UInt8] {
    let hasAlpha = pixels.contains { $0.count == 4 }
    let head = number(UInt32(pixels.count)) + number(1) + [8, hasAlpha ? 6 : 2, 0, 0, 0]
    let all =
      [Chunk(name: "IHDR", content: head)] + chunks
      + [Chunk(name: "IDAT", content: stored([0] + pixels.joined())), Chunk(name: "IEND", content: [])]
    return signature + all.flatMap(\.bytes)
  }

  /// RFC 1950 and 1951: uncompressed blocks.
  private static func stored(_ bytes: [UInt8]) -> [UInt8] {
    var (low, high): (UInt32, UInt32) = (1, 0)
    for byte in bytes {
      low = (low + UInt32(byte)) % 65521
      high = (high + low) % 65521
    }
    let maximum = Int(UInt16.max)
    let blocks = stride(from: 0, to: bytes.count, by: maximum).flatMap { start in
      let block = bytes[start..<min(start + maximum, bytes.count)]
      let count = UInt16(block.count)
      let lengths = [count, ~count].flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
      return [block.endIndex == bytes.count ? 1 : 0] + lengths + block
    }
    return [0x78, 0x01] + blocks + number(high << 16 | low)
  }

  private static func number(_ value: UInt32) -> [UInt8] {
    [UInt8(value >> 24), UInt8(value >> 16 & 255), UInt8(value >> 8 & 255), UInt8(value & 255)]
  }

  /// PNG specification, annex D.
  private static func checksum(_ bytes: [UInt8]) -> UInt32 {
    var sum = UInt32.max
    for byte in bytes {
      sum ^= UInt32(byte)
      for _ in 0..<8 { sum = sum & 1 == 1 ? 0xEDB8_8320 ^ sum >> 1 : sum >> 1 }
    }
    return ~sum
  }
}
