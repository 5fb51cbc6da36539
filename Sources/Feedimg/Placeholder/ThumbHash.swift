import FeedimgModel
import FeedimgPipeline
import Glibc

/// A ThumbHash: the few lowest frequencies of a picture with its shape and alpha, in about 25 bytes
/// (github.com/evanw/thumbhash).
struct ThumbHash: Sendable {
  /// The coefficients of one channel, in stored order: a triangle, row by row.
  private struct Channel {
    var average: Double
    var waves: [(column: Int, row: Int, height: Double)] = []

    func value(_ across: [Double], _ down: [Double]) -> Double {
      waves.reduce(average) { $0 + $1.height * across[$1.column] * down[$1.row] * 2 }
    }
  }

  private let light: Channel
  private let yellow: Channel
  private let red: Channel
  private let alpha: Channel?
  /// The width divided by the height.
  let aspect: Double

  /// The longer side of the bitmap, in pixels, as in the reference implementation.
  private static let side = 32.0
  private static let maximumWaves = 7

  /// Reads a ThumbHash; nil if the bytes are invalid.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= 5 else { return nil }
    let head = Int(bytes[0]) | Int(bytes[1]) << 8 | Int(bytes[2]) << 16
    let tail = Int(bytes[3]) | Int(bytes[4]) << 8
    let hasAlpha = head >> 23 != 0
    let isWide = tail >> 15 != 0
    let (long, short) = (hasAlpha ? 5 : 7, tail & 7)
    guard short > 0, !hasAlpha || bytes.count >= 6 else { return nil }
    aspect = isWide ? Double(long) / Double(short) : Double(short) / Double(long)
    let columns = max(3, isWide ? long : short)
    let rows = max(3, isWide ? short : long)
    var digits = Digits(bytes: bytes, place: hasAlpha ? 12 : 10)
    func channel(_ average: Double, _ columns: Int, _ rows: Int, _ scale: Double) -> Channel? {
      var channel = Channel(average: average)
      for row in 0..<rows {
        var column = row == 0 ? 1 : 0
        while column * rows < columns * (rows - row) {
          guard let digit = digits.next() else { return nil }
          channel.waves.append((column, row, (Double(digit) / 7.5 - 1) * scale))
          column += 1
        }
      }
      return channel
    }
    // As in the reference implementation, colours are raised by a quarter to offset rounding.
    let parts = (Double(tail >> 3 & 63) / 63 * 1.25, Double(tail >> 9 & 63) / 63 * 1.25)
    guard
      let light = channel(Double(head & 63) / 63, columns, rows, Double(head >> 18 & 31) / 31),
      let yellow = channel(Double(head >> 6 & 63) / 31.5 - 1, 3, 3, parts.0),
      let red = channel(Double(head >> 12 & 63) / 31.5 - 1, 3, 3, parts.1)
    else { return nil }
    (self.light, self.yellow, self.red) = (light, yellow, red)
    if hasAlpha {
      guard let alpha = channel(Double(bytes[5] & 15) / 15, 5, 5, Double(bytes[5] >> 4) / 15) else {
        return nil
      }
      self.alpha = alpha
    } else {
      alpha = nil
    }
  }

  func bitmap(format: Bitmap.Format) -> Bitmap? {
    let width = Int((aspect > 1 ? Self.side : Self.side * aspect).rounded())
    let height = Int((aspect > 1 ? Self.side / aspect : Self.side).rounded())
    let across = (0..<width).map { Self.cosines($0, width) }
    let down = (0..<height).map { Self.cosines($0, height) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(width * height * 4)
    for y in down {
      for x in across {
        let (l, p, q) = (light.value(x, y), yellow.value(x, y), red.value(x, y))
        let opacity = min(max(alpha?.value(x, y) ?? 1, 0), 1)
        let blueShare = l - 2.0 / 3 * p
        let redShare = (3 * l - blueShare + q) / 2
        func byte(_ value: Double) -> UInt8 { UInt8(min(max(value, 0), 1) * opacity * 255) }
        let (first, third) = format == .rgba ? (redShare, blueShare) : (blueShare, redShare)
        bytes += [byte(first), byte(redShare - q), byte(third), UInt8(opacity * 255)]
      }
    }
    let size = PixelSize(width: width, height: height)
    return Bitmap(size: size, format: format, isOpaque: alpha == nil, bytes: bytes)
  }

  /// The basis functions at the centre of a pixel.
  private static func cosines(_ place: Int, _ length: Int) -> [Double] {
    (0..<maximumWaves).map { cos(.pi / Double(length) * (Double(place) + 0.5) * Double($0)) }
  }

  /// Reads half bytes, the lower one first.
  private struct Digits {
    let bytes: [UInt8]
    var place: Int

    mutating func next() -> Int? {
      guard place / 2 < bytes.count else { return nil }
      defer { place += 1 }
      return Int(bytes[place / 2] >> (place % 2 * 4) & 15)
    }
  }
}
