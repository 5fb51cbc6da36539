import FeedimgModel
import Testing

@testable import FeedimgDecoding

/// Pictures whose scans have arrived in part.
struct ScanTests {
  private static let none = PixelSize(width: 0, height: 0)
  private static let small = DecodeRequest(DisplaySize(width: 64, height: 48), damage: .show)

  private func decode(
    _ file: String,
    _ count: Int,
    _ request: DecodeRequest = DecodeRequest(damage: .show)
  ) throws -> DecodedImage {
    try Fixture.decode(Array(Fixture.bytes(file).prefix(count)), request)
  }

  static let rows: [(Int, PixelSize, PixelSize, String)] = [
    (883, PixelSize(width: 32, height: 24), PixelSize(width: 32, height: 24), "the means of blocks"),
    (900, PixelSize(width: 32, height: 24), PixelSize(width: 32, height: 24), "with a part of the next head"),
    (1300, none, none, "within a scan"),
    (
      2022, PixelSize(width: 32, height: 24), PixelSize(width: 32, height: 24),
      "all, within a tolerance of four steps"
    ),
    (3261, PixelSize(width: 256, height: 192), PixelSize(width: 64, height: 48), "within two"),
    (7107, PixelSize(width: 256, height: 192), PixelSize(width: 64, height: 48), "whole"),
  ]

  @Test(arguments: rows)
  func `detail is the number of known pixels of a progressive JPEG`(
    _ count: Int,
    _ detail: PixelSize,
    _ smallDetail: PixelSize,
    _ what: String
  ) throws {
    #expect(try decode("clouds.jpg", count).detail == detail, "\(what)")
    #expect(try decode("clouds.jpg", count, Self.small).detail == smallDetail, "\(what)")
  }

  @Test func `detail counts the visible part, at its shown size`() throws {
    let fill = DecodeRequest(DisplaySize(width: 96, height: 192, fitting: .fill), damage: .show)
    #expect(try decode("clouds.jpg", 883, fill).detail == PixelSize(width: 12, height: 24))
    let placement = Placement(stored: PixelSize(width: 40, height: 20), isTurned: true, display: nil)
    let known = PixelSize(width: 10, height: 4)
    let stored = PixelSize(width: 40, height: 20)
    #expect(placement.detail(of: stored, known: known) == PixelSize(width: 4, height: 10))
  }

  @Test func `an interlaced PNG has more known pixels after each pass`() throws {
    let whole = try Fixture.bytes("clouds.png").count
    var seen: [PixelSize] = [Self.none]
    for part in 1...64 {
      let image = try? decode("clouds.png", whole * part / 64)
      if let detail = image?.detail, detail != seen.last { seen.append(detail) }
    }
    let passes = [(8, 6), (16, 6), (16, 12), (32, 12), (32, 24), (64, 24), (64, 48)]
    let known = [Self.none] + passes.map { PixelSize(width: $0.0, height: $0.1) }
    #expect(seen == known.filter { seen.contains($0) }, "in their order")
    // The first passes have only a few bytes.
    #expect(seen.suffix(4) == known.suffix(4))
  }

  @Test func `a picture that is truncated at the bottom has no detail`() throws {
    let bytes = try Fixture.bytes("stored.png")
    #expect(try decode("stored.png", bytes.count / 2).detail == Self.none)
    #expect(try decode("stored.png", bytes.count).detail == PixelSize(width: 64, height: 48))
  }
}
