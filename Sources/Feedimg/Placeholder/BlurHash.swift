import FeedimgModel
import FeedimgPipeline
import Glibc

/// A BlurHash: the few lowest frequencies of a picture, as text (github.com/woltapp/blurhash,
/// `Algorithm.md`).
struct BlurHash: Sendable {
  private typealias Color = SIMD3<Double>

  private let columns: Int
  private let rows: Int
  /// The coefficients, row by row, in linear light.
  private let waves: [Color]

  private static let digits = Array(
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~".utf8
  )

  /// Reads a BlurHash; nil if the text is invalid.
  init?(_ text: String) {
    let values = text.utf8.compactMap { Self.digits.firstIndex(of: $0) }
    guard values.count == text.utf8.count, values.count >= 6, values[0] < 81 else { return nil }
    columns = values[0] % 9 + 1
    rows = values[0] / 9 + 1
    guard values.count == 4 + 2 * columns * rows else { return nil }
    let average = values[2..<6].reduce(0) { $0 * 83 + $1 }
    guard average <= 0xFF_FFFF else { return nil }
    let maximum = Double(values[1] + 1) / 166
    let bytes = Color(Double(average >> 16), Double(average >> 8 & 255), Double(average & 255))
    waves =
      [Color(Self.linear(bytes.x), Self.linear(bytes.y), Self.linear(bytes.z))]
      + stride(from: 6, to: values.count, by: 2).map { place in
        let value = values[place] * 83 + values[place + 1]
        func part(_ digit: Int) -> Double {
          let share = Double(digit - 9) / 9
          return share * abs(share) * maximum
        }
        return Color(part(value / 361), part(value / 19 % 19), part(value % 19))
      }
  }

  func bitmap(_ size: PixelSize, format: Bitmap.Format) -> Bitmap? {
    let across = Self.cosines(columns, size.width)
    let down = Self.cosines(rows, size.height)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(size.width * size.height * 4)
    for y in 0..<size.height {
      for x in 0..<size.width {
        var color = Color.zero
        for row in 0..<rows {
          for column in 0..<columns {
            color += waves[row * columns + column] * (across[column][x] * down[row][y])
          }
        }
        let (red, green, blue) = (Self.byte(color.x), Self.byte(color.y), Self.byte(color.z))
        bytes += format == .rgba ? [red, green, blue, 255] : [blue, green, red, 255]
      }
    }
    return Bitmap(size: size, format: format, isOpaque: true, bytes: bytes)
  }

  private static func cosines(_ waves: Int, _ length: Int) -> [[Double]] {
    (0..<waves).map { wave in
      (0..<length).map { cos(.pi * Double(wave) * Double($0) / Double(length)) }
    }
  }

  /// The transfer function of IEC 61966-2-1 (sRGB).
  private static func linear(_ byte: Double) -> Double {
    let value = byte / 255
    return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
  }

  private static func byte(_ linear: Double) -> UInt8 {
    let value = min(max(linear, 0), 1)
    let encoded = value <= 0.0031308 ? value * 12.92 : 1.055 * pow(value, 1 / 2.4) - 0.055
    return UInt8(min(max(encoded * 255 + 0.5, 0), 255))
  }
}
