import FeedimgModel
import Testing

@testable import FeedimgDecoding

/// Colours that are given by codes and numbers instead of a profile.
///
/// The expected values come from `Fixtures/colors`, which does not use Little CMS.
struct ColorTests {
  /// The numbers in the pictures.
  private static let stored: [[UInt8]] = [[200, 100, 50], [60, 180, 90], [40, 60, 190], [128, 128, 128]]
  private static let same = stored.map { $0.map(Int.init) }
  private static let p3 = [[215, 93, 31], [0, 183, 78], [34, 61, 198], [128, 128, 128]]
  private static let wide = [[241, 76, 29], [0, 189, 74], [0, 59, 199], [128, 128, 128]]
  private static let linear = [[229, 168, 122], [133, 219, 160], [110, 133, 224], [188, 188, 188]]
  private static let gamma = [[210, 119, 65], [77, 193, 109], [53, 77, 202], [146, 146, 146]]

  struct Codes: Sendable, CustomTestStringConvertible {
    var primaries: UInt8
    var transfer: UInt8
    var shown: [[Int]]
    var reason: String
    var testDescription: String { "\(primaries)/\(transfer): \(reason)" }
  }

  static let codes = [
    Codes(primaries: 1, transfer: 13, shown: same, reason: "sRGB"),
    Codes(primaries: 1, transfer: 1, shown: same, reason: "BT.709 is shown as sRGB"),
    Codes(primaries: 2, transfer: 2, shown: same, reason: "without colour information"),
    Codes(primaries: 1, transfer: 2, shown: same, reason: "without a transfer function"),
    Codes(primaries: 200, transfer: 200, shown: same, reason: "unknown codes"),
    Codes(primaries: 12, transfer: 13, shown: p3, reason: "Display P3"),
    Codes(primaries: 12, transfer: 1, shown: p3, reason: "Display P3, written by a video encoder"),
    Codes(primaries: 12, transfer: 2, shown: p3, reason: "Display P3, without a transfer function"),
    Codes(primaries: 9, transfer: 13, shown: wide, reason: "BT.2020 with the transfer function of sRGB"),
    Codes(primaries: 9, transfer: 14, shown: wide, reason: "BT.2020"),
    Codes(
      primaries: 5,
      transfer: 6,
      shown: [[203, 100, 51], [46, 180, 92], [39, 60, 189], [128, 128, 128]],
      reason: "BT.601 with 625 lines"
    ),
    Codes(
      primaries: 6,
      transfer: 6,
      shown: [[196, 102, 49], [73, 178, 89], [46, 65, 190], [128, 128, 128]],
      reason: "BT.601 with 525 lines"
    ),
    Codes(
      primaries: 4,
      transfer: 4,
      shown: [[233, 93, 22], [0, 179, 83], [0, 78, 197], [129, 129, 129]],
      reason: "BT.470 M: another white, gamma 2.2"
    ),
    Codes(
      primaries: 11,
      transfer: 17,
      shown: [[204, 75, 0], [0, 174, 57], [15, 41, 189], [113, 113, 113]],
      reason: "cinema: another white, gamma 2.6"
    ),
    Codes(
      primaries: 1,
      transfer: 5,
      shown: [[189, 76, 26], [36, 165, 66], [17, 36, 177], [106, 106, 106]],
      reason: "gamma 2.8"
    ),
    Codes(primaries: 1, transfer: 8, shown: linear, reason: "linear light"),
    Codes(
      primaries: 9,
      transfer: 16,
      shown: [[255, 57, 0], [0, 255, 24], [0, 32, 255], [181, 181, 181]],
      reason: "PQ, with highlights rolled off"
    ),
    Codes(
      primaries: 9,
      transfer: 18,
      shown: [[255, 68, 3], [0, 226, 65], [0, 55, 235], [137, 137, 137]],
      reason: "HLG, likewise"
    ),
  ]

  /// Compares the four fields, or pixels, of a picture with the expected ones.
  private func expect(_ bitmap: Bitmap, _ shown: [[Int]], _ reason: String, within tolerance: Int = 1) {
    let isRow = bitmap.size.height == 1
    for (index, color) in shown.enumerated() {
      let across = isRow ? Double(index) / 4 : index % 2 == 0 ? 0.25 : 0.75
      let down = isRow ? 0 : index < 2 ? 0.25 : 0.75
      let isRight = bitmap.isAbout(color + [255], across, down, within: tolerance)
      #expect(isRight, "\(bitmap.pixel(across, down)) is not \(color): \(reason)")
    }
  }

  @Test(arguments: codes) func `the colour codes of an AVIF are applied`(_ row: Codes) throws {
    var bytes = try Fixture.bytes("colors.avif")
    let place = try #require(bytes.indices.first { bytes[$0...].starts(with: Array("nclx".utf8)) }) + 4
    #expect(Array(bytes[place..<place + 4]) == [0, 12, 0, 13], "as it was made")
    bytes[place + 1] = row.primaries
    bytes[place + 3] = row.transfer
    expect(try Fixture.decode(bytes).bitmap, row.shown, row.reason)
  }

  @Test(arguments: codes) func `the colour codes of a PNG are applied`(_ row: Codes) throws {
    let bytes = PNGBytes.make(Self.stored, [.cICP(row.primaries, row.transfer, 0, 1)])
    expect(try Fixture.decode(bytes).bitmap, row.shown, row.reason)
  }

  @Test func `every frame of an animation has its colours converted`() throws {
    var bytes = try Fixture.bytes("animation.avif")
    // The codes of its item and of its track.
    for place in bytes.indices where bytes[place...].starts(with: Array("nclx".utf8)) { bytes[place + 5] = 6 }
    let frames = try Fixture.animation(bytes).frames
    #expect(frames.count == 3)
    let (red, green, blue) = ([248, 36, 0, 255], [63, 251, 0, 255], [26, 35, 255, 255])
    for (frame, middle) in zip(frames, [red, green, blue]) {
      #expect(frame.bitmap.isAbout(red, 0.05, 0.05, within: 12), "\(frame.bitmap.pixel(0.05, 0.05))")
      #expect(frame.bitmap.isAbout(middle, 0.5, 0.5, within: 12), "\(frame.bitmap.pixel(0.5, 0.5))")
    }
  }

  private static let whitePoints: [UInt32] = [31270, 32900]
  private static let p3Points = PNGBytes.Chunk.cHRM(whitePoints + [68000, 32000, 26500, 69000, 15000, 6000])
  private static let commonPoints = PNGBytes.Chunk.cHRM(
    whitePoints + [64000, 33000, 30000, 60000, 15000, 6000]
  )

  static let chunks: [([PNGBytes.Chunk], [[Int]], String)] = [
    ([], same, "without colour information"),
    ([.sRGB], same, "sRGB"),
    ([.gAMA(45455), commonPoints], same, "the chunk for sRGB"),
    ([.gAMA(45455)], same, "2.2 stands for sRGB"),
    ([p3Points, .gAMA(45455)], p3, "Display P3"),
    ([p3Points], p3, "Display P3, without a gamma"),
    ([.gAMA(100_000)], linear, "linear light"),
    ([.gAMA(55556), commonPoints], gamma, "gamma 1.8"),
    (
      [p3Points, .gAMA(55556)], [[225, 113, 49], [0, 196, 99], [46, 78, 209], [146, 146, 146]],
      "gamma 1.8 and other primaries"
    ),
    ([.gAMA(100_000), p3Points, .sRGB], same, "sRGB takes precedence over gamma and primaries"),
    ([.cICP(12, 13, 0, 1), .sRGB], p3, "codes take precedence over sRGB"),
    ([.gAMA(100_000), .cICP(1, 13, 0, 1)], same, "codes for sRGB take precedence over a gamma"),
    ([.cICP(2, 2, 0, 1), .gAMA(100_000)], linear, "unspecified codes do not"),
    ([.cICP(12, 13, 0), .gAMA(100_000)], linear, "truncated codes are ignored"),
    ([.cICP(12, 13, 1, 1), .gAMA(100_000)], linear, "so are codes for other models than RGB"),
    ([.cICP(12, 13, 0, 0)], same, "and codes for a narrow range"),
    ([.gAMA(0)], same, "an invalid gamma"),
    ([.cHRM([31270, 0, 68000, 32000, 26500, 69000, 15000, 6000])], same, "an invalid white point"),
    ([.cHRM(whitePoints + [30000, 30000, 30000, 30000, 30000, 30000])], same, "invalid primaries"),
    ([.cHRM([0, 0, 0, 0, 0, 0, 0, 0])], same, "no lights"),
  ]

  @Test(arguments: chunks)
  func `the chunks of a PNG apply in the order of the specification`(
    _ chunks: [PNGBytes.Chunk],
    _ shown: [[Int]],
    _ reason: String
  ) throws {
    expect(try Fixture.decode(PNGBytes.make(Self.stored, chunks)).bitmap, shown, reason)
  }

  @Test func `a profile takes precedence over a gamma, and codes over a profile`() throws {
    // It exchanges red and green. It is the first chunk after the head.
    let profile = PNGBytes.Chunk(name: "iCCP", content: Array(try Fixture.bytes("profile.png")[41..<298]))
    let others = [PNGBytes.Chunk.gAMA(100_000), Self.p3Points, profile]
    let changed = try Fixture.decode(PNGBytes.make([[0, 255, 0]], others)).bitmap
    #expect(changed.isAbout([255, 0, 0, 255], 0, 0, within: 6), "\(changed.pixel(0, 0))")
    let unchanged = try Fixture.decode(PNGBytes.make([[0, 255, 0]], [.cICP(1, 13, 0, 1)] + others)).bitmap
    #expect(unchanged.pixel(0, 0) == [0, 255, 0, 255])
  }

  /// A grey profile with a linear transfer function (ICC.1:2022, §7.2 and §10.6).
  private static var linearGray: [UInt8] {
    var head = [UInt8](repeating: 0, count: 128)
    func put(_ bytes: [UInt8], at place: Int) {
      head.replaceSubrange(place..<place + bytes.count, with: bytes)
    }
    put([0, 0, 0, 160], at: 0)
    put([4, 0x30, 0, 0] + Array("mntrGRAYXYZ ".utf8), at: 8)
    put(Array("acsp".utf8), at: 36)
    // The white point of the profile, D50.
    put([0, 0, 0xF6, 0xD6, 0, 1, 0, 0, 0, 0, 0xD3, 0x2D], at: 68)
    let tags: [UInt8] = [0, 0, 0, 1] + Array("kTRC".utf8) + [0, 0, 0, 144, 0, 0, 0, 16]
    return head + tags + Array("curv".utf8) + [0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0]
  }

  @Test func `a grey profile applies only to grey pictures`() throws {
    func decode(_ file: String) throws -> Bitmap {
      let bytes = try Fixture.bytes(file)
      let content = Array("ICC_PROFILE\0".utf8) + [1, 1] + Self.linearGray
      let segment = [0xFF, 0xE2, 0, UInt8(content.count + 2)] + content
      return try Fixture.decode(bytes.prefix(2) + segment + bytes.dropFirst(2)).bitmap
    }
    let fields = try decode("fields.jpg")
    for (across, down, color) in DecodingTests.fields {
      #expect(fields.isAbout(color, across, down, within: 6), "\(fields.pixel(across, down)) is not \(color)")
    }
    let gray = try decode("gray.jpg")
    // Linear 76 equals 149 in sRGB.
    #expect(gray.isAbout([149, 149, 149, 255], 0.25, 0.25, within: 4), "\(gray.pixel(0.25, 0.25))")
  }

  @Test func `colours are converted before alpha is multiplied in`() throws {
    let pixels = Self.stored.map { $0 + [128] }
    let bitmap = try Fixture.decode(PNGBytes.make(pixels, [.cICP(12, 13, 0, 1)])).bitmap
    for (index, color) in Self.p3.enumerated() {
      let shown = color.map { Int((Double($0) * 128 / 255).rounded()) } + [128]
      #expect(bitmap.isAbout(shown, Double(index) / 4, 0, within: 2), "\(shown)")
    }
  }

  @Test(arguments: [TransferCurve.pq, .hlg])
  func `highlights grow monotonically up to white`(_ curve: TransferCurve) {
    let light = curve.light
    #expect(zip(light, light.dropFirst()).allSatisfy { $0 <= $1 })
    #expect((light.first, light.last) == (0, 65535))
    // Reference white, by ITU-R BT.2408: 58 % of PQ, 75 % of HLG.
    let paper = curve.light(of: curve == .pq ? 0.5807 : 0.75)
    #expect(abs(paper - 0.753) < 0.005)
  }

  @Test(arguments: [0.000_16, 0.1, 1, 1.8, 2.2, 6250]) func `no exponent breaks a curve`(_ exponent: Double) {
    let light = TransferCurve.of(exponent: exponent).light
    #expect(light.count == 256 && light.last == 65535)
  }
}
