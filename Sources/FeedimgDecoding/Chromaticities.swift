/// The primaries and the white point of an image, as x and y of CIE 1931 (pure).
struct Chromaticities: Sendable, Hashable {
  var white: SIMD2<Double>
  var red: SIMD2<Double>
  var green: SIMD2<Double>
  var blue: SIMD2<Double>

  private static let daylight = SIMD2(0.3127, 0.3290)

  /// The primaries of BT.709 and sRGB.
  static let bt709 = Self(
    white: daylight,
    red: SIMD2(0.640, 0.330),
    green: SIMD2(0.300, 0.600),
    blue: SIMD2(0.150, 0.060)
  )

  /// The chromaticities for a code of ITU-T H.273, table 2; those of sRGB for an unspecified or unknown code.
  static func of(code: UInt16) -> Self {
    switch code {
    case 4:  // BT.470 M, with the white of illuminant C
      Self(
        white: SIMD2(0.310, 0.316),
        red: SIMD2(0.67, 0.33),
        green: SIMD2(0.21, 0.71),
        blue: SIMD2(0.14, 0.08)
      )
    case 5:  // BT.601 with 625 lines
      Self(white: daylight, red: SIMD2(0.64, 0.33), green: SIMD2(0.29, 0.60), blue: SIMD2(0.15, 0.06))
    case 6, 7:  // BT.601 with 525 lines, and SMPTE 240M
      Self(white: daylight, red: SIMD2(0.630, 0.340), green: SIMD2(0.310, 0.595), blue: SIMD2(0.155, 0.070))
    case 8:  // film
      Self(
        white: SIMD2(0.310, 0.316),
        red: SIMD2(0.681, 0.319),
        green: SIMD2(0.243, 0.692),
        blue: SIMD2(0.145, 0.049)
      )
    case 9:  // BT.2020
      Self(white: daylight, red: SIMD2(0.708, 0.292), green: SIMD2(0.170, 0.797), blue: SIMD2(0.131, 0.046))
    case 11:  // DCI-P3, SMPTE RP 431-2
      Self(
        white: SIMD2(0.314, 0.351),
        red: SIMD2(0.680, 0.320),
        green: SIMD2(0.265, 0.690),
        blue: SIMD2(0.150, 0.060)
      )
    case 12:  // Display P3, SMPTE EG 432-1
      Self(white: daylight, red: SIMD2(0.680, 0.320), green: SIMD2(0.265, 0.690), blue: SIMD2(0.150, 0.060))
    case 22:  // EBU Tech 3213-E
      Self(white: daylight, red: SIMD2(0.630, 0.340), green: SIMD2(0.295, 0.605), blue: SIMD2(0.155, 0.077))
    default: .bt709
    }
  }

  /// Whether the difference is too small to see.
  func isAbout(_ other: Self) -> Bool {
    zip(values, other.values).allSatisfy { abs($0 - $1) < 0.005 }
  }

  /// The values of white, red, green and blue, x before y.
  var values: [Double] { [white, red, green, blue].flatMap { [$0.x, $0.y] } }
}
