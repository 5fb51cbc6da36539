import CPixels

/// What the numbers of a picture without a profile mean (pure).
struct ColorEncoding: Sendable, Hashable {
  var chromaticities: Chromaticities
  var curve: TransferCurve

  /// What a file says; nil for what is shown as it is, as sRGB or near enough.
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
    if curve == .common, chromaticities == .common || chromaticities.isAbout(.common) { return nil }
  }
}
