import FeedimgModel
import Testing

@testable import FeedimgDecoding

/// The visible part of a picture, and its size in pixels.
struct GeometryTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var stored: PixelSize
    var isTurned = false
    var display: DisplaySize?
    var part: Placement.Part
    var size: PixelSize
  }

  private static func size(_ width: Int, _ height: Int) -> PixelSize {
    PixelSize(width: width, height: height)
  }

  private static func part(_ left: Double, _ top: Double, _ width: Double, _ height: Double) -> Placement.Part
  {
    Placement.Part(left: left, top: top, width: width, height: height)
  }

  static let rows = [
    Row(
      testDescription: "without a size, as it is",
      stored: size(640, 480),
      part: part(0, 0, 640, 480),
      size: size(640, 480)
    ),
    Row(
      testDescription: "fit: the tighter side decides",
      stored: size(4000, 3000),
      display: DisplaySize(width: 320, height: 320),
      part: part(0, 0, 4000, 3000),
      size: size(320, 240)
    ),
    Row(
      testDescription: "points become pixels by the scale",
      stored: size(4000, 3000),
      display: DisplaySize(width: 320, height: 320, scale: 2),
      part: part(0, 0, 4000, 3000),
      size: size(640, 480)
    ),
    Row(
      testDescription: "nothing is enlarged",
      stored: size(16, 8),
      display: DisplaySize(width: 320, height: 320),
      part: part(0, 0, 16, 8),
      size: size(16, 8)
    ),
    Row(
      testDescription: "fill: the excess is cut evenly",
      stored: size(4000, 3000),
      display: DisplaySize(width: 300, height: 300, fitting: .fill),
      part: part(500, 0, 3000, 3000),
      size: size(300, 300)
    ),
    Row(
      testDescription: "fill: a small picture is cropped, and not enlarged",
      stored: size(40, 30),
      display: DisplaySize(width: 300, height: 300, fitting: .fill),
      part: part(5, 0, 30, 30),
      size: size(30, 30)
    ),
    Row(
      testDescription: "a rotated picture is measured upright",
      stored: size(4000, 3000),
      isTurned: true,
      display: DisplaySize(width: 300, height: 100, fitting: .fill),
      part: part(1500, 0, 1000, 3000),
      size: size(100, 300)
    ),
    Row(
      testDescription: "a line keeps a pixel of height",
      stored: size(10_000, 1),
      display: DisplaySize(width: 10, height: 10),
      part: part(0, 0, 10_000, 1),
      size: size(10, 1)
    ),
    Row(
      testDescription: "an invalid size shows one pixel",
      stored: size(10, 10),
      display: DisplaySize(width: -.infinity, height: .nan),
      part: part(0, 0, 10, 10),
      size: size(1, 1)
    ),
    Row(
      testDescription: "an infinite box shows everything",
      stored: size(10, 10),
      display: DisplaySize(width: .infinity, height: 1e300, scale: 1e300),
      part: part(0, 0, 10, 10),
      size: size(10, 10)
    ),
  ]

  @Test(arguments: rows) func `a part of the picture is scaled to this many pixels`(_ row: Row) {
    let placement = Placement(stored: row.stored, isTurned: row.isTurned, display: row.display)
    #expect(placement.part == row.part)
    #expect(placement.storedSize == row.size)
    #expect(placement.sourceSize == (row.isTurned ? row.stored.turned : row.stored))
  }

  /// The left half of a long line is red, and its right half is blue or transparent.
  @Test(arguments: [
    (1000, 1000, [0, 0, 255, 255], "as it is"), (1000, 20, [0, 0, 255, 255], "by the filter alone"),
    (1000, 20, [0, 0, 255, 0], "by the filter alone, with alpha"),
    (200_000, 200, [0, 0, 255, 255], "averaged"),
    (200_000, 200, [255, 255, 255, 0], "averaged, with alpha"),
    (199_999, 100, [0, 0, 255, 255], "with a rest"),
  ])
  func `a line of any length keeps its colours`(length: Int, side: Int, end: [UInt8], what: String) throws {
    let pixels = (0..<length).map { $0 < length / 2 ? [255, 0, 0, 255] : end }
    var limits = DecodingLimits()
    limits.memory = .mebibytes(8)
    let request = DecodeRequest(DisplaySize(width: Double(side), height: 1))
    let bitmap = try Fixture.decode(PNGBytes.make(pixels, []), request, limits).bitmap
    #expect(bitmap.size == PixelSize(width: side, height: 1))
    let shown = end[3] == 0 ? [0, 0, 0, 0] : end.map(Int.init)
    for (place, color) in [(0.0, [255, 0, 0, 255]), (0.3, [255, 0, 0, 255]), (0.7, shown), (1, shown)] {
      #expect(bitmap.isAbout(color, place, 0, within: 8), "\(what): \(bitmap.pixel(place, 0)) at \(place)")
    }
  }

  @Test func `a line that would need an endless filter is refused`() throws {
    let bytes = PNGBytes.make([[UInt8]](repeating: [1, 2, 3], count: 400_000), [])
    var limits = DecodingLimits()
    limits.memory = .mebibytes(32)
    let request = DecodeRequest(DisplaySize(width: 200_000, height: 1))
    let error = #expect(throws: DecodeError.self) { try Fixture.decode(bytes, request, limits) }
    #expect(error?.code == .tooLarge)
    #expect(try Fixture.decode(bytes, DecodeRequest(), limits).bitmap.size.width == 400_000)
  }

  @Test func `a codec that can decode a smaller picture is told the smallest useful size`() {
    let display = DisplaySize(width: 300, height: 300, fitting: .fill)
    let placement = Placement(stored: Self.size(4000, 3000), isTurned: false, display: display)
    #expect(placement.minimumSize(of: Self.size(4000, 3000)) == Self.size(400, 300))
  }
}
