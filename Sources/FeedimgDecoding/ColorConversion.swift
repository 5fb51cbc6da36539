import CLCMS
import CPixels

/// From the colours of an image to sRGB, for all of its frames.
final class ColorConversion {
  /// Nil where there is none for CMYK, and where RGB is shown as it is.
  private let transform: OpaquePointer?
  private let isCMYK: Bool

  /// - Parameters:
  ///   - head: Its profile counts, if it is one for such pixels; else what the file says in another way.
  ///   - isCMYK: Whether the pixels are CMYK, which is changed without a profile, too.
  init(_ head: cpixels_head, isCMYK: Bool) {
    self.isCMYK = isCMYK
    let profile = head.profile.flatMap { clcms_prepare($0, head.profile_size, isCMYK, head.is_gray) }
    let encoding = isCMYK || profile != nil ? nil : ColorEncoding(head.colors)
    transform = profile ?? encoding.flatMap { clcms_prepare_colors($0.chromaticities.values, $0.curve.light) }
  }

  deinit { clcms_free(transform) }

  /// Changes pixels in place, whose alpha is multiplied in.
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
