import FeedimgModel
import Testing

@testable import FeedimgDecoding

/// JPEG files without an end marker, as some cameras and programs write them (ITU-T T.81, §B.2.1).
struct EndMarkTests {
  static let files = [
    "fields.jpg", "progressive.jpg", "gray.jpg", "cmyk.jpg", "profile.jpg", "turned-6.jpg", "clouds.jpg",
  ]

  @Test(arguments: files, DecodeRequest.Damage.allCases)
  func `a JPEG without its end marker is complete`(
    _ file: String,
    _ damage: DecodeRequest.Damage
  ) throws {
    let bytes = try Fixture.bytes(file)
    #expect(bytes.suffix(2) == [0xFF, 0xD9])
    let whole = try Fixture.decode(bytes)
    for missing in 1...2 {
      let image = try Fixture.decode(Array(bytes.dropLast(missing)), DecodeRequest(damage: damage))
      #expect(!image.isPartial && image.bitmap == whole.bitmap && image.detail == whole.detail, "\(missing)")
    }
  }

  @Test(arguments: files) func `a JPEG with missing picture data is damaged`(_ file: String) throws {
    let bytes = try Fixture.bytes(file)
    // The last byte of the data has at least one used bit.
    for missing in 3...40 {
      let cut = Array(bytes.dropLast(missing))
      let error = #expect(throws: DecodeError.self, "\(missing)") { try Fixture.decode(cut) }
      #expect(error?.code == .damaged)
      #expect(try Fixture.decode(cut, DecodeRequest(damage: .show)).isPartial, "\(missing)")
    }
  }

  @Test(arguments: [883, 2022, 3261])
  func `a progressive JPEG without its last scans is damaged`(_ count: Int) throws {
    let cut = Array(try Fixture.bytes("clouds.jpg").prefix(count))
    #expect(throws: DecodeError.self) { try Fixture.decode(cut) }
    #expect(try Fixture.decode(cut, DecodeRequest(damage: .show)).isPartial)
  }

  @Test func `a JPEG with one scan per colour is damaged if one scan is missing`() throws {
    let bytes = try Fixture.bytes("planes.jpg")
    let whole = try Fixture.decode(bytes)
    let scans = (1..<bytes.count).filter { bytes[$0 - 1] == 0xFF && bytes[$0] == 0xDA }
    #expect(scans.count == 3)
    for scan in scans.dropFirst() {
      // Tables may precede it.
      let cut = Array(bytes.prefix(scan - 1))
      #expect(throws: DecodeError.self) { try Fixture.decode(cut) }
      #expect(try Fixture.decode(cut, DecodeRequest(damage: .show)).isPartial)
    }
    #expect(try Fixture.decode(Array(bytes.dropLast(2))).bitmap == whole.bitmap)
  }

  @Test func `rows with complete data are shown, wherever the data ends`() throws {
    let bytes = try Fixture.bytes("gray.jpg")
    let whole = try Fixture.decode(bytes).bitmap
    let image = try Fixture.decode(Array(bytes.dropLast(3)), DecodeRequest(damage: .show))
    // The last row of blocks has 8 pixels.
    let rows = whole.stride * (whole.size.height - 8)
    #expect(image.bitmap.bytes.prefix(rows) == whole.bytes.prefix(rows))
    #expect(image.bitmap.pixel(0, 1) == [0, 0, 0, 0])
  }
}
