import FeedimgModel
import Testing

@testable import FeedimgDecoding

/// Complete pictures, made by other programs.
struct DecodingTests {
  private static let red = [255, 0, 0, 255]
  private static let green = [0, 255, 0, 255]
  private static let blue = [0, 0, 255, 255]
  private static let yellow = [255, 255, 0, 255]

  /// Four fields: red and green above blue and yellow.
  static let fields = [
    (0.25, 0.25, red), (0.75, 0.25, green), (0.25, 0.75, blue), (0.75, 0.75, yellow),
  ]

  struct Row: Sendable, CustomTestStringConvertible {
    var file: String
    /// The tolerance for lossy formats.
    var tolerance: Int
    var reason: String
    var testDescription: String { "\(file): \(reason)" }
  }

  /// Files of every kind that have the fields.
  static let kinds = [
    Row(file: "fields.jpg", tolerance: 3, reason: "baseline"),
    Row(file: "progressive.jpg", tolerance: 3, reason: "all scans"),
    Row(file: "cmyk.jpg", tolerance: 4, reason: "CMYK, without a profile"),
    Row(file: "profile.jpg", tolerance: 8, reason: "a profile that exchanges red and green"),
    Row(file: "fields.png", tolerance: 0, reason: "24 bits"),
    Row(file: "interlaced.png", tolerance: 0, reason: "seven passes"),
    Row(file: "palette.png", tolerance: 0, reason: "a palette"),
    Row(file: "deep.png", tolerance: 0, reason: "48 bits"),
    Row(file: "profile.png", tolerance: 6, reason: "the profile in iCCP"),
    Row(file: "fields.webp", tolerance: 4, reason: "lossy"),
    Row(file: "lossless.webp", tolerance: 0, reason: "lossless"),
    Row(file: "profile.webp", tolerance: 6, reason: "the profile in ICCP"),
    Row(file: "fields.avif", tolerance: 4, reason: "8 bits"),
    Row(file: "deep.avif", tolerance: 4, reason: "10 bits"),
    Row(file: "profile.avif", tolerance: 8, reason: "the profile in colr"),
  ]

  static let rows =
    kinds + (1...8).map { Row(file: "turned-\($0).jpg", tolerance: 4, reason: "orientation \($0) of EXIF") }

  @Test func `each codec has a fixture`() throws {
    let codecs = try Fixture.whole.map { try Codec(of: Fixture.bytes($0)) }
    #expect(Set(codecs) == Set(Codec.allCases))
  }

  @Test(arguments: rows) func `each format decodes upright and in sRGB`(_ row: Row) throws {
    let image = try Fixture.decode(try Fixture.bytes(row.file))
    #expect(image.sourceSize == PixelSize(width: 64, height: 48))
    #expect(image.bitmap.size == image.sourceSize)
    #expect(image.bitmap.stride == 256)
    #expect((image.bitmap.isOpaque, image.isPartial, image.isAnimated) == (true, false, false))
    for (across, down, color) in Self.fields {
      let isRight = image.bitmap.isAbout(color, across, down, within: row.tolerance)
      #expect(isRight, "\(image.bitmap.pixel(across, down)) is not \(color)")
    }
  }

  @Test(arguments: rows) func `each format decodes at a smaller size, cropped, and as BGRA`(_ row: Row) throws
  {
    let bytes = try Fixture.bytes(row.file)
    let small = try Fixture.decode(
      bytes,
      DecodeRequest(DisplaySize(width: 8, height: 8, scale: 2), format: .bgra)
    )
    #expect(small.sourceSize == PixelSize(width: 64, height: 48))
    #expect(small.bitmap.size == PixelSize(width: 16, height: 12))
    #expect(small.bitmap.isOpaque)
    for (across, down, color) in Self.fields {
      let turned = [color[2], color[1], color[0], 255]
      let isRight = small.bitmap.isAbout(turned, across, down, within: row.tolerance + 4)
      #expect(isRight, "\(small.bitmap.pixel(across, down)) is not \(turned)")
    }
    let cut = try Fixture.decode(bytes, DecodeRequest(DisplaySize(width: 20, height: 20, fitting: .fill)))
    #expect(cut.bitmap.size == PixelSize(width: 20, height: 20))
    // The border between the fields is still in the middle.
    for (across, down, color) in Self.fields {
      #expect(cut.bitmap.isAbout(color, across, down, within: row.tolerance + 4))
    }
  }

  @Test func `a picture that its container rotates is upright`() throws {
    let image = try Fixture.decode(try Fixture.bytes("turned.avif"))
    #expect(image.sourceSize == PixelSize(width: 48, height: 64))
    // A quarter turn anticlockwise.
    for (across, down, color) in [
      (0.25, 0.25, Self.green), (0.75, 0.25, Self.yellow), (0.25, 0.75, Self.red),
    ] {
      #expect(image.bitmap.isAbout(color, across, down, within: 4))
    }
  }

  @Test(arguments: [nil, DisplaySize(width: 20, height: 15)])
  func `only the part that a container crops to is decoded`(_ size: DisplaySize?) throws {
    let image = try Fixture.decode(try Fixture.bytes("part.avif"), DecodeRequest(size))
    #expect(image.sourceSize == PixelSize(width: 40, height: 30))
    // The fields meet after 24 of its columns and 12 of its rows.
    for (across, down, color) in [
      (0.3, 0.2, Self.red), (0.8, 0.2, Self.green), (0.3, 0.7, Self.blue), (0.8, 0.7, Self.yellow),
      (0.54, 0.34, Self.red), (0.66, 0.46, Self.yellow),
    ] {
      #expect(
        image.bitmap.isAbout(color, across, down, within: size == nil ? 6 : 30),
        "\(image.bitmap.pixel(across, down))"
      )
    }
  }

  @Test func `the alpha flag of a lossless WebP is a hint`() throws {
    var bytes = try Fixture.bytes("fading.webp")
    let whole = try Fixture.decode(bytes).bitmap
    // RFC 9649, section 3.4: a byte for the format, 14 bits each for width and height, and one for alpha.
    bytes[24] &= ~0x10
    #expect(try Fixture.decode(bytes).bitmap == whole && !whole.isOpaque)
  }

  @Test func `grey and one bit become colours`() throws {
    let gray = try Fixture.decode(try Fixture.bytes("gray.jpg")).bitmap
    for (across, down, value) in [(0.25, 0.25, 76), (0.75, 0.25, 150), (0.25, 0.75, 29), (0.75, 0.75, 226)] {
      #expect(gray.isAbout([value, value, value, 255], across, down, within: 3))
    }
    let bits = try Fixture.decode(try Fixture.bytes("bits.png")).bitmap
    #expect(bits.pixel(0.5, 0) == [255, 255, 255, 255])
    #expect(bits.pixel(0.5, 1) == [0, 0, 0, 255])
  }

  @Test(arguments: ["fading.png", "fading.webp"])
  func `alpha is multiplied in, also when pixels are scaled`(_ file: String) throws {
    for size in [nil, DisplaySize(width: 16, height: 16), DisplaySize(width: 9, height: 9, fitting: .fill)] {
      let bitmap = try Fixture.decode(try Fixture.bytes(file), DecodeRequest(size)).bitmap
      #expect(!bitmap.isOpaque)
      for start in stride(from: 0, to: bitmap.bytes.count, by: 4) {
        let pixel = bitmap.bytes[start..<start + 4].map(Int.init)
        // Red everywhere, equal to alpha.
        if abs(pixel[0] - pixel[3]) > 1 || pixel[0] > pixel[3] || pixel[1] + pixel[2] > 0 {
          Issue.record("\(pixel)")
        }
      }
    }
    let whole = try Fixture.decode(try Fixture.bytes(file)).bitmap
    #expect(whole.pixel(0, 0.5)[3] > 250 || whole.pixel(1, 0.5)[3] > 250)
    #expect(abs(whole.pixel(0.5, 0.5)[3] - 128) < 8)
  }

  static let animations = [("animation.gif", 3), ("animation.webp", 3), ("animation.avif", 12)]

  @Test(arguments: animations)
  func `each frame is the visible picture, with the duration in the file`(
    _ file: String,
    _ tolerance: Int
  ) throws {
    let bytes = try Fixture.bytes(file)
    let animation = try Fixture.animation(bytes)
    #expect(animation.frames.map(\.duration) == durations(file))
    // GIF and WebP have a loop count, but libavif 0.11 does not read it. A GIF counts the repetitions after
    // the first play.
    if file != "animation.avif" { #expect(animation.loopCount == (file == "animation.gif" ? 6 : 5)) }
    #expect(!animation.isPartial)
    for (frame, middle) in zip(animation.frames, [Self.red, Self.green, Self.blue]) {
      #expect(frame.bitmap.size == PixelSize(width: 40, height: 30))
      #expect(frame.bitmap.isAbout(Self.red, 0.05, 0.05, within: tolerance))
      #expect(frame.bitmap.isAbout(middle, 0.5, 0.5, within: tolerance), "\(frame.bitmap.pixel(0.5, 0.5))")
    }
    let first = try Fixture.decode(bytes)
    #expect(first.isAnimated)
    #expect(first.bitmap == animation.frames.first?.bitmap)
    let small = try Fixture.animation(bytes, DecodeRequest(DisplaySize(width: 20, height: 20)))
    #expect(small.frames.map(\.bitmap.size) == Array(repeating: PixelSize(width: 20, height: 15), count: 3))
  }

  private func durations(_ file: String) -> [Duration] {
    // One unit of its timescale each.
    if file == "animation.avif" { return Array(repeating: .milliseconds(100), count: 3) }
    return [.milliseconds(100), .milliseconds(200), .milliseconds(300)]
  }

  @Test func `a still picture is an animation of one frame`() throws {
    let animation = try Fixture.animation(try Fixture.bytes("fields.png"))
    #expect(animation.frames.count == 1)
  }
}
