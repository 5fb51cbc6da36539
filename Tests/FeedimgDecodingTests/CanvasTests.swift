import FeedimgModel
import Testing

@testable import FeedimgDecoding

/// GIF frames that exceed their canvas.
struct CanvasTests {
  private static let red = [255, 0, 0, 255]
  private static let green = [0, 255, 0, 255]
  private static let show = DecodeRequest(damage: .show)

  /// A frame whose data has only the given pixels.
  ///
  /// Each is the number of a colour: red, green, blue, white.
  private struct Frame {
    var left = 0
    var top = 0
    var width: Int
    var height: Int
    var isInterlaced = false
    var pixels: [UInt8]
    /// After the codes, in the same data.
    var rest: [UInt8] = []

    var bytes: [UInt8] {
      var bytes: [UInt8] = [0x2C]
      for value in [left, top, width, height] { bytes += [UInt8(value & 255), UInt8(value >> 8)] }
      bytes += [isInterlaced ? 0x40 : 0, 2]
      let data = codes + rest
      for start in stride(from: 0, to: data.count, by: 255) {
        let block = data[start..<min(start + 255, data.count)]
        bytes += [UInt8(block.count)] + block
      }
      return bytes + [0]
    }

    /// GIF89a, appendix F.
    ///
    /// The table is cleared after every two pixels, so that a code always has three bits.
    private var codes: [UInt8] {
      let codes = stride(from: 0, to: pixels.count, by: 2).flatMap {
        [4] + pixels[$0..<min($0 + 2, pixels.count)]
      }
      var bytes = [UInt8](repeating: 0, count: (codes.count * 3 + 7) / 8)
      for (index, code) in codes.enumerated() {
        for bit in 0..<3 where code >> bit & 1 == 1 {
          bytes[(index * 3 + bit) / 8] |= 1 << ((index * 3 + bit) % 8)
        }
      }
      return bytes
    }
  }

  private func image(
    _ width: UInt8,
    _ height: UInt8,
    _ frames: [Frame],
    end: [UInt8] = [0x3B]
  ) -> [UInt8] {
    Array("GIF89a".utf8) + [width, 0, height, 0, 0x81, 0, 0]
      + [255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255] + frames.flatMap(\.bytes) + end
  }

  @Test(arguments: [(0, 0), (0, 2), (3, 0), (1, 1), (3, 2)] as [(UInt8, UInt8)])
  func `a canvas smaller than the first frame grows, as in browsers`(
    _ width: UInt8,
    _ height: UInt8
  ) throws {
    let bytes = image(width, height, [Frame(left: 1, width: 2, height: 2, pixels: [1, 1, 1, 1])])
    let bitmap = try Fixture.decode(bytes).bitmap
    #expect(bitmap.size == PixelSize(width: 3, height: 2))
    #expect(bitmap.pixel(0, 0) == [0, 0, 0, 0])
    #expect(bitmap.pixel(1, 0) == Self.green && bitmap.pixel(1, 1) == Self.green)
  }

  @Test func `a canvas that grows with its first frame stays within the limits`() throws {
    // Few pixels, but far from the corner.
    let bytes = image(0, 0, [Frame(left: 65535, top: 65535, width: 1, height: 1, pixels: [0])])
    let error = #expect(throws: DecodeError.self) { try Fixture.decode(bytes, Self.show) }
    #expect(error?.code == .tooLarge)
    #expect(error?.message == "65536×65536 pixels are more than the 100000000 that are allowed")
  }

  @Test(arguments: [[], [0], [0xFF, 0x21], [0x0D, 0x0A]] as [[UInt8]])
  func `an animation ends when no further block begins`(_ end: [UInt8]) throws {
    let frames = [Frame(width: 1, height: 1, pixels: [0]), Frame(width: 1, height: 1, pixels: [1])]
    for request in [DecodeRequest(), Self.show] {
      let animation = try Fixture.animation(image(1, 1, frames, end: end), request)
      #expect(animation.frames.map { $0.bitmap.pixel(0, 0) } == [Self.red, Self.green])
      #expect(!animation.isPartial)
    }
    #expect(throws: DecodeError.self) { try Fixture.animation(image(1, 1, [], end: end), Self.show) }
  }

  @Test func `an animation that is truncated within a frame or an extension is refused`() throws {
    let frame = Frame(width: 1, height: 1, pixels: [0])
    for end in [[0x2C], [0x2C, 0, 0, 0, 0], [0x21], [0x21, 0xF9, 4, 0], Array(frame.bytes.dropLast(2))] {
      let bytes = image(1, 1, [frame], end: end)
      #expect(throws: DecodeError.self, "\(end)") { try Fixture.animation(bytes) }
      #expect(try Fixture.animation(bytes, Self.show).isPartial, "\(end)")
    }
  }

  static let loops: [(UInt16, Int?)] = [(0, nil), (1, 2), (5, 6), (65535, 65536)]

  @Test(arguments: loops)
  func `the loop count is one more than the repetitions of a GIF`(_ stored: UInt16, _ shown: Int?) throws {
    var bytes = image(1, 1, [Frame(width: 1, height: 1, pixels: [0])])
    let loops = [UInt8(stored & 255), UInt8(stored >> 8)]
    bytes.insert(contentsOf: [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + [3, 1] + loops + [0], at: 25)
    #expect(try Fixture.animation(bytes).loopCount == shown)
  }

  @Test(arguments: [0, 1])
  func `a frame with more pixels than allowed is refused on any canvas`(_ before: Int) {
    let first = Array(repeating: Frame(width: 1, height: 1, pixels: [0]), count: before)
    let bytes = image(1, 1, first + [Frame(width: 65535, height: 65535, pixels: [0])])
    for request in [DecodeRequest(), Self.show] {
      let error = #expect(throws: DecodeError.self) { try Fixture.decode(bytes, request) }
      #expect(error?.code == .tooLarge)
      let excess =
        before == 0
        // The canvas is as large as the first.
        ? "65535×65535 pixels are more than the 100000000 that are allowed"
        : "a frame of 4294836225 pixels is more than the 100000000 that are allowed"
      #expect(error?.message == excess)
      #expect(throws: DecodeError.self) { try Fixture.animation(bytes, request) }
    }
  }

  @Test func `pixels below the last row of the canvas are not decoded`() throws {
    // Only the visible pixels, then invalid codes.
    let rest = [UInt8](repeating: 0xFF, count: 700)
    let rows = Frame(width: 2, height: 30_000, pixels: Array(repeating: 1, count: 6), rest: rest)
    var passes = Frame(width: 2, height: 20_000, isInterlaced: true, pixels: [], rest: rest)
    // Rows 0, 8, 16 …, then 4, 12 …, then 2, 6, 10 …, then 1.
    passes.pixels = Array(repeating: 0, count: 2 * (2500 + 2500 + 5000 + 1))
    let beside = Frame(left: 2, width: 9, height: 9, pixels: [], rest: rest)
    let below = Frame(top: 3, width: 9, height: 9, pixels: [], rest: rest)
    let dot = Frame(width: 1, height: 1, pixels: [1])
    let bytes = image(2, 3, [dot, rows, passes, beside, below, dot])
    let animation = try Fixture.animation(bytes)
    #expect(animation.frames.count == 6)
    let colors = [Self.green, Self.green, Self.red, Self.red, Self.red, Self.green]
    for (frame, color) in zip(animation.frames, colors) {
      #expect(frame.bitmap.size == PixelSize(width: 2, height: 3))
      #expect(frame.bitmap.pixel(0, 0) == color)
    }
    #expect(animation.frames[5].bitmap.pixel(1, 1) == Self.red)
  }

  @Test func `a later frame that is wider than the canvas is clipped`() throws {
    let frame = Frame(left: 1, top: 1, width: 3, height: 2, pixels: [1, 2, 2, 1, 2, 2])
    let first = Frame(left: 1, width: 1, height: 1, pixels: [2])
    let bitmap = try Fixture.animation(image(2, 3, [first, frame])).frames[1].bitmap
    #expect(bitmap.pixel(0, 0) == [0, 0, 0, 0])
    #expect(bitmap.pixel(0, 0.5) == [0, 0, 0, 0])
    #expect(bitmap.pixel(1, 0.5) == Self.green)
    #expect(bitmap.pixel(1, 1) == Self.green)
  }

  @Test func `a frame whose codes end within the visible part is damaged`() throws {
    let bytes = image(2, 3, [Frame(width: 2, height: 3, pixels: [1, 1, 1])])
    let error = #expect(throws: DecodeError.self) { try Fixture.decode(bytes) }
    #expect(error?.code == .damaged)
    let shown = try Fixture.decode(bytes, Self.show)
    #expect(shown.isPartial && shown.bitmap.pixel(0, 0) == Self.green)
  }
}
