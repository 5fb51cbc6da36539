import CLCMS
import CPixels

/// Converts the colours of all frames of an image to sRGB.
final class ColorConversion {
  /// Nil for CMYK without a profile, and for RGB that needs no conversion.
  private let transform: OpaquePointer?
  private let isCMYK: Bool

  /// - Parameters:
  ///   - head: Its ICC profile applies if it suits the pixels; otherwise the other colour fields of the file.
  ///   - isCMYK: Whether the pixels are CMYK; these are converted even without a profile.
  init(_ head: cpixels_head, isCMYK: Bool) {
    self.isCMYK = isCMYK
    let profile = head.profile.flatMap { clcms_prepare($0, head.profile_size, isCMYK, head.is_gray) }
    let encoding = isCMYK || profile != nil ? nil : ColorEncoding(head.colors)
    transform = profile ?? encoding.flatMap { clcms_prepare_colors($0.chromaticities.values, $0.curve.light) }
  }

  deinit { clcms_free(transform) }

  /// Converts premultiplied pixels in place.
  func apply(to pixels: UnsafeMutablePointer<UInt8>, count: Int, isOpaque: Bool) {
    guard let transform else {
      if isCMYK { clcms_guess_cmyk(pixels, count) }
      return
    }
    let hasAlpha = !isOpaque && !isCMYK
    if hasAlpha { cpixels_unpremultiply(pixels, count) }
    clcms_apply(transform, pixels, count)
    if hasAlpha { cpixels_premultiply(pixels, count) }
  }
}
