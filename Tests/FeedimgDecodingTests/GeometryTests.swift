import FeedimgModel
import Testing

@testable import FeedimgDecoding

/// Which part of a picture is shown, and in how many pixels.
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
      testDescription: "fit: the tighter side counts",
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
      testDescription: "fill: what juts out is cut evenly",
      stored: size(4000, 3000),
      display: DisplaySize(width: 300, height: 300, fitting: .fill),
      part: part(500, 0, 3000, 3000),
      size: size(300, 300)
    ),
    Row(
      testDescription: "fill: a small picture is cut to the shape, and not enlarged",
      stored: size(40, 30),
      display: DisplaySize(width: 300, height: 300, fitting: .fill),
      part: part(5, 0, 30, 30),
      size: size(30, 30)
    ),
    Row(
      testDescription: "a picture that lies on its side is measured upright",
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
      testDescription: "nonsense shows one pixel",
      stored: size(10, 10),
      display: DisplaySize(width: -.infinity, height: .nan),
      part: part(0, 0, 10, 10),
      size: size(1, 1)
    ),
    Row(
      testDescription: "a box without end shows all",
      stored: size(10, 10),
      display: DisplaySize(width: .infinity, height: 1e300, scale: 1e300),
      part: part(0, 0, 10, 10),
      size: size(10, 10)
    ),
  ]

  @Test(arguments: rows) func `a part of the picture becomes so many pixels`(_ row: Row) {
    let placement = Placement(stored: row.stored, isTurned: row.isTurned, display: row.display)
    #expect(placement.part == row.part)
    #expect(placement.storedSize == row.size)
    #expect(placement.sourceSize == (row.isTurned ? row.stored.turned : row.stored))
  }

  @Test func `a codec that can decode a smaller picture is told how small it may be`() {
    let display = DisplaySize(width: 300, height: 300, fitting: .fill)
    let placement = Placement(stored: Self.size(4000, 3000), isTurned: false, display: display)
    #expect(placement.leastSize(of: Self.size(4000, 3000)) == Self.size(400, 300))
  }
}
