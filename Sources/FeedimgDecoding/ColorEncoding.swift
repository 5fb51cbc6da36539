import CPixels

/// The colour space of an image without an ICC profile (pure).
struct ColorEncoding: Sendable, Hashable {
  var chromaticities: Chromaticities
  var curve: TransferCurve

  /// Reads the colour fields of a file; nil for sRGB, or for colours close to it.
  init?(_ colors: cpixels_colors) {
    if colors.has_points {
      chromaticities = Chromaticities(
        white: SIMD2(colors.white.x, colors.white.y),
        red: SIMD2(colors.red.x, colors.red.y),
        green: SIMD2(colors.green.x, colors.green.y),
        blue: SIMD2(colors.blue.x, colors.blue.y)
      )
    } else {
      chromaticities = .of(code: colors.primaries)
    }
    curve = colors.exponent > 0 ? .of(exponent: colors.exponent) : .of(code: colors.transfer)
    if curve == .sRGB, chromaticities == .bt709 || chromaticities.isAbout(.bt709) { return nil }
  }
}
