import FeedimgModel
import Testing

@testable import FeedimgDecoding

/// Pictures that are truncated, damaged or malicious.
struct DamageTests {
  /// The request for each of them.
  private static let small = DecodeRequest(DisplaySize(width: 16, height: 16), damage: .show)

  @Test(arguments: Fixture.whole)
  func `a truncated picture is refused`(_ file: String) throws {
    let bytes = try Fixture.bytes(file)
    for eighth in 0..<8 {
      let cut = Array(bytes.prefix(bytes.count * eighth / 8))
      let isAnimation = file.hasPrefix("animation") && file != "animation.avif"
      do throws(DecodeError) {
        let image = try Fixture.decode(cut)
        // The first frame of an animation may be complete, and so may all pixels of a picture.
        #expect(
          isAnimation || eighth >= 6 || file == "bits.png",
          "\(eighth) eighths of \(file) are \(image.bitmap.size)"
        )
      } catch {
        #expect([.damaged, .unknownFormat].contains(error.code), "\(error)")
        #expect(!error.message.isEmpty && !error.message.hasSuffix("."))
      }
    }
  }

  /// The number of eighths from which on something is shown.
  ///
  /// Other formats need the whole file.
  private static let eighths = [
    "fields.jpg": 7, "progressive.jpg": 4, "gray.jpg": 7, "cmyk.jpg": 6, "turned-6.jpg": 7, "fields.png": 3,
    "interlaced.png": 3, "palette.png": 4, "deep.png": 3, "bits.png": 5, "fading.png": 3, "profile.png": 6,
    "fields.webp": 7, "animation.webp": 4, "animation.gif": 4, "interlaced.gif": 4,
  ]

  @Test(arguments: Fixture.whole)
  func `a truncated picture is shown in part on request`(_ file: String) throws {
    let bytes = try Fixture.bytes(file)
    let whole = try Fixture.decode(bytes)
    for eighth in 0...8 {
      let cut = Array(bytes.prefix(bytes.count * eighth / 8))
      do throws(DecodeError) {
        let image = try Fixture.decode(cut, DecodeRequest(damage: .show))
        #expect(image.bitmap.size == whole.bitmap.size)
      } catch {
        #expect(eighth < Self.eighths[file, default: 8], "\(eighth) eighths of \(file): \(error)")
        #expect([.damaged, .unknownFormat].contains(error.code), "\(error)")
      }
    }
  }

  @Test func `the missing bottom is transparent, and the received part is right`() throws {
    for file in ["fields.jpg", "stored.png", "fields.webp"] {
      let bytes = try Fixture.bytes(file)
      let count = try #require(
        (1..<bytes.count).first {
          (try? Fixture.decode(Array(bytes.prefix($0)), DecodeRequest(damage: .show)))?
            .bitmap.isAbout([255, 0, 0, 255], 0.25, 0.25, within: 6) ?? false
        },
        "\(file)"
      )
      let image = try Fixture.decode(Array(bytes.prefix(count)), DecodeRequest(damage: .show))
      #expect(image.isPartial, "\(file)")
      #expect(!image.bitmap.isOpaque, "\(file)")
      #expect(image.bitmap.pixel(0.5, 1) == [0, 0, 0, 0], "\(file)")
    }
  }

  @Test(arguments: [
    DecodeRequest(damage: .show), DecodeRequest(DisplaySize(width: 30, height: 30), damage: .show),
  ])
  func `the missing part of a truncated CMYK picture is transparent too`(_ request: DecodeRequest) throws {
    let bytes = try Fixture.bytes("inks.jpg")
    let whole = try Fixture.decode(bytes, request)
    #expect(whole.bitmap.isOpaque && !whole.isPartial)
    let image = try Fixture.decode(Array(bytes.prefix(bytes.count * 3 / 4)), request)
    #expect(image.isPartial && !image.bitmap.isOpaque)
    #expect(image.bitmap.pixel(0.5, 1) == [0, 0, 0, 0])
    #expect(image.bitmap.pixel(0.5, 0) == whole.bitmap.pixel(0.5, 0))
  }

  @Test func `the received scans of a progressive picture show all of it`() throws {
    let bytes = try Fixture.bytes("progressive.jpg")
    let image = try Fixture.decode(Array(bytes.prefix(bytes.count * 2 / 3)), DecodeRequest(damage: .show))
    #expect(image.isPartial)
    #expect(image.bitmap.isOpaque)
    #expect(image.bitmap.isAbout([255, 255, 0, 255], 0.75, 0.75, within: 80))
  }

  @Test(arguments: Fixture.whole)
  func `flipped bits never break the decoder`(_ file: String) throws {
    let bytes = try Fixture.bytes(file)
    var generator = SplitMix(state: UInt64(bytes.count))
    var limits = DecodingLimits()
    limits.pixels = 1_000_000
    limits.memory = .mebibytes(16)
    for _ in 0..<300 {
      var damaged = bytes
      for _ in 0..<Int.random(in: 1...8, using: &generator) {
        let place = Int.random(in: 0..<bytes.count, using: &generator)
        damaged[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
      }
      if Bool.random(using: &generator) {
        damaged = damaged.dropLast(Int.random(in: 0..<bytes.count, using: &generator))
      }
      for request in [Self.small, DecodeRequest()] {
        if let image = try? Fixture.decode(damaged, request, limits) {
          #expect(image.bitmap.bytes.count == image.bitmap.stride * image.bitmap.size.height)
        }
      }
      _ = try? Fixture.animation(damaged, Self.small, limits)
    }
  }

  @Test(arguments: ["huge.png", "huge.jpg", "huge.gif", "huge.webp", "huge.avif"])
  func `a small file that announces a huge picture is refused before it is decoded`(_ file: String) throws {
    let bytes = try Fixture.bytes(file)
    for request in [DecodeRequest(), Self.small] {
      do throws(DecodeError) {
        _ = try Fixture.decode(bytes, request)
        Issue.record("\(file) was decoded")
      } catch {
        // An inner picture of another size is damage, too.
        #expect([.tooLarge, .damaged].contains(error.code), "\(error)")
      }
    }
  }

  @Test
  func `a picture above the memory limit is refused, and a smaller size needs less`()
    throws
  {
    var limits = DecodingLimits()
    limits.memory = ByteCount(12_000)
    let bytes = try Fixture.bytes("fields.jpg")
    do throws(DecodeError) {
      _ = try Fixture.decode(bytes, DecodeRequest(), limits)
      Issue.record("it was decoded")
    } catch {
      #expect(error.code == .tooLarge)
      #expect(error.message.contains("more than the 12 kB that are allowed"))
    }
    let small = try Fixture.decode(bytes, DecodeRequest(DisplaySize(width: 8, height: 8)), limits)
    #expect(small.bitmap.size == PixelSize(width: 8, height: 6))
  }

  @Test func `an animation keeps its limits of frames and memory`() throws {
    let bytes = try Fixture.bytes("animation.gif")
    var limits = DecodingLimits()
    limits.frames = 2
    let short = try Fixture.animation(bytes, DecodeRequest(), limits)
    #expect((short.frames.count, short.isPartial) == (2, true))
    // For 40 by 30 pixels: two output copies, two canvases, and the buffer of a lossless frame.
    limits.memory = ByteCount(1200 * 4 * 5 - 1)
    let webp = try Fixture.bytes("animation.webp")
    let error = #expect(throws: DecodeError.self) { try Fixture.animation(webp, DecodeRequest(), limits) }
    #expect(error?.code == .tooLarge)
  }

  @Test func `the complete frames of a truncated animated WebP are shown`() throws {
    let bytes = try Fixture.bytes("animation.webp")
    let whole = try Fixture.animation(bytes)
    // The ends of its frames.
    let ends = [92, 140, 188]
    for count in 0..<bytes.count {
      let cut = Array(bytes[..<count])
      let frames = ends.count { $0 <= count }
      let shown = try? Fixture.animation(cut, DecodeRequest(damage: .show))
      #expect(shown?.frames ?? [] == Array(whole.frames.prefix(frames)), "\(count) bytes")
      #expect(shown?.isPartial ?? true && shown?.loopCount ?? 5 == 5, "\(count) bytes")
      #expect((shown == nil) == (frames == 0), "\(count) bytes")
      let first = try? Fixture.decode(cut, DecodeRequest(damage: .show))
      #expect(first?.bitmap == (frames == 0 ? nil : whole.frames.first?.bitmap), "\(count) bytes")
      let refused = #expect(throws: DecodeError.self, "\(count) bytes") { try Fixture.animation(cut) }
      #expect(refused?.code == .damaged || count < 12, "\(count) bytes")
    }
  }

  @Test func `a picture with endless scans is given up`() throws {
    let bytes = try Fixture.bytes("scans.jpg")
    let error = #expect(throws: DecodeError.self) { try Fixture.decode(bytes) }
    #expect(error?.code == .damaged)
  }

  static let strangers: [[UInt8]] = [
    [], [0], Array("<svg xmlns='http://www.w3.org/2000/svg'/>".utf8), Array("hello".utf8),
    [0xFF, 0xD8, 0xFF],
    Array("GIF89a".utf8), Array("RIFF\0\0\0\0WEBP".utf8), [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A],
    Array("\0\0\0\u{18}ftypavif\0\0\0\0avifmif1".utf8),
  ]

  @Test(arguments: strangers) func `a file that is not a picture is refused`(_ bytes: [UInt8]) {
    #expect(throws: DecodeError.self) { try Fixture.decode(bytes) }
    #expect(throws: DecodeError.self) { try Fixture.animation(bytes, DecodeRequest(damage: .show)) }
  }
}

/// The same numbers each time (Steele, Lea and Flood, "Fast splittable pseudorandom number generators").
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
    return value ^ value >> 31
  }
}
