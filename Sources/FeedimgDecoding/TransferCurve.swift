import Glibc

/// The function from an encoded value to light (pure).
enum TransferCurve: Sendable, Hashable {
  case sRGB
  case gamma(Double)
  /// SMPTE ST 2084, for high dynamic range.
  case pq
  /// ITU-R BT.2100, for high dynamic range.
  case hlg

  /// The curve for a code of ITU-T H.273, table 3; that of sRGB for an unspecified or unknown code.
  ///
  /// The codes for television (1, 6, 7, 11, 12, 14 and 15) also give sRGB. They describe cameras, not displays, and
  /// encoders of images usually mean sRGB by them.
  static func of(code: UInt16) -> Self {
    switch code {
    case 4: .gamma(2.2)
    case 5: .gamma(2.8)
    case 8: .gamma(1)
    case 16: .pq
    case 17: .gamma(2.6)
    case 18: .hlg
    default: .sRGB
    }
  }

  /// The curve for an exponent; an exponent near 2.2 means sRGB, as in libpng.
  static func of(exponent: Double) -> Self {
    abs(exponent * 0.45455 - 1) <= 0.05 ? .sRGB : .gamma(exponent)
  }

  /// The light of each byte value, where 65,535 is white.
  var light: [UInt16] {
    (0...255).map { number in
      let light = light(of: Double(number) / 255)
      return UInt16((min(max(light, 0), 1) * 65535).rounded())
    }
  }

  /// The light of a value from 0 to 1, where 1 is white.
  func light(of number: Double) -> Double {
    switch self {
    case .sRGB: number <= 0.04045 ? number / 12.92 : pow((number + 0.055) / 1.055, 2.4)
    case .gamma(let exponent): pow(number, exponent)
    case .pq: Self.toned(Self.pqLuminance(number))
    case .hlg: Self.toned(Self.hlgLuminance(number))
    }
  }

  /// The luminance in cd/m², by ITU-R BT.2100, table 4.
  private static func pqLuminance(_ number: Double) -> Double {
    let root = pow(number, 32.0 / 2523)
    return 10_000 * pow(max(root - 3424.0 / 4096, 0) / (2413.0 / 128 - 2392.0 / 128 * root), 16384.0 / 2610)
  }

  /// The luminance in cd/m² on a display of 1,000 cd/m², by ITU-R BT.2100, table 5.
  ///
  /// The system gamma of 1.2 applies to each colour alone.
  private static func hlgLuminance(_ number: Double) -> Double {
    let scene =
      number <= 0.5 ? number * number / 3 : (exp((number - 0.55991073) / 0.17883277) + 0.28466892) / 12
    return 1000 * pow(scene, 1.2)
  }

  /// Maps a luminance to the range of a standard display.
  ///
  /// Diffuse white has 203 cd/m² (ITU-R BT.2408). Values up to half of that stay unchanged. Above, the curve flattens
  /// (Reinhard and others, "Photographic tone reproduction for digital images", equation 4). From 1,000 cd/m² on,
  /// everything is white.
  private static func toned(_ luminance: Double) -> Double {
    let (value, knee, most) = (luminance / 203, 0.5, 1000.0 / 203)
    guard value > knee else { return value }
    let (above, end) = ((value - knee) / (1 - knee), (most - knee) / (1 - knee))
    return knee + (1 - knee) * above * (1 + above / (end * end)) / (1 + above)
  }
}
