import FeedimgModel
import Testing

@testable import FeedimgDecoding

/// GIF frames that do not keep to their canvas.
struct CanvasTests {
  private static let red = [255, 0, 0, 255]
  private static let green = [0, 255, 0, 255]
  private static let show = DecodeRequest(damage: .show)

  /// A frame whose data hold but the pixels given; each is the number of a colour: red, green, blue, white.
  private struct Frame {
    var left = 0
    var top = 0
    var width: Int
    var height: Int
    var isInterlaced = false
    var pixels: [UInt8]
    /// Behind the codes, in the same data.
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

    /// GIF89a, appendix F; cleared after two pixels each time, so that a code always has three bits.
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

  private func image(_ width: UInt8, _ height: UInt8, _ frames: [Frame]) -> [UInt8] {
    Array("GIF89a".utf8) + [width, 0, height, 0, 0x81, 0, 0]
      + [255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255] + frames.flatMap(\.bytes) + [0x3B]
  }

  static let loops: [(UInt16, Int?)] = [(0, nil), (1, 2), (5, 6), (65535, 65536)]

  @Test(arguments: loops)
  func `what a GIF repeats is shown once more`(_ stored: UInt16, _ shown: Int?) throws {
    var bytes = image(1, 1, [Frame(width: 1, height: 1, pixels: [0])])
    let loops = [UInt8(stored & 255), UInt8(stored >> 8)]
    bytes.insert(contentsOf: [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + [3, 1] + loops + [0], at: 25)
    #expect(try Fixture.animation(bytes).loopCount == shown)
  }

  @Test(arguments: [0, 1])
  func `a frame of more pixels than allowed is refused, whatever the canvas`(_ before: Int) {
    let first = Array(repeating: Frame(width: 1, height: 1, pixels: [0]), count: before)
    let bytes = image(1, 1, first + [Frame(width: 65535, height: 65535, pixels: [0])])
    for request in [DecodeRequest(), Self.show] {
      let error = #expect(throws: DecodeError.self) { try Fixture.decode(bytes, request) }
      #expect(error?.code == .tooLarge)
      #expect(error?.message == "a frame of 4294836225 pixels is more than the 100000000 that are allowed")
      #expect(throws: DecodeError.self) { try Fixture.animation(bytes, request) }
    }
  }

  @Test func `what is behind the last row of the canvas is not decoded`() throws {
    // No more pixels than are seen, then codes that mean nothing.
    let rest = [UInt8](repeating: 0xFF, count: 700)
    let rows = Frame(width: 2, height: 30_000, pixels: Array(repeating: 1, count: 6), rest: rest)
    var passes = Frame(width: 2, height: 20_000, isInterlaced: true, pixels: [], rest: rest)
    // Rows 0, 8, 16 …, then 4, 12 …, then 2, 6, 10 …, then 1.
    passes.pixels = Array(repeating: 0, count: 2 * (2500 + 2500 + 5000 + 1))
    let beside = Frame(left: 2, width: 9, height: 9, pixels: [], rest: rest)
    let below = Frame(top: 3, width: 9, height: 9, pixels: [], rest: rest)
    let bytes = image(2, 3, [rows, passes, beside, below, Frame(width: 1, height: 1, pixels: [1])])
    let animation = try Fixture.animation(bytes)
    #expect(animation.frames.count == 5)
    for (frame, color) in zip(animation.frames, [Self.green, Self.red, Self.red, Self.red, Self.green]) {
      #expect(frame.bitmap.size == PixelSize(width: 2, height: 3))
      #expect(frame.bitmap.pixel(0, 0) == color)
    }
    #expect(animation.frames[4].bitmap.pixel(1, 1) == Self.red)
  }

  @Test func `a frame that is wider than the canvas is clipped`() throws {
    let frame = Frame(left: 1, top: 1, width: 3, height: 2, pixels: [1, 2, 2, 1, 2, 2])
    let bitmap = try Fixture.decode(image(2, 3, [frame])).bitmap
    #expect(bitmap.pixel(0, 0) == [0, 0, 0, 0])
    #expect(bitmap.pixel(0, 0.5) == [0, 0, 0, 0])
    #expect(bitmap.pixel(1, 0.5) == Self.green)
    #expect(bitmap.pixel(1, 1) == Self.green)
  }

  @Test func `a frame whose codes end within what is seen is damaged`() throws {
    let bytes = image(2, 3, [Frame(width: 2, height: 9, pixels: [1, 1, 1])])
    let error = #expect(throws: DecodeError.self) { try Fixture.decode(bytes) }
    #expect(error?.code == .damaged)
    let shown = try Fixture.decode(bytes, Self.show)
    #expect(shown.isPartial && shown.bitmap.pixel(0, 0) == Self.green)
  }
}
