import CLCMS
import CPixels

/// From the colours of one picture to sRGB.
final class ColorConversion {
  private let transform: OpaquePointer?
  private let isCMYK: Bool

  /// - Parameters:
  ///   - head: Its profile counts, if it is one for such pixels.
  ///   - isCMYK: Whether the pixels are CMYK, which is changed without a profile, too.
  init(_ head: cpixels_head, isCMYK: Bool) {
    self.isCMYK = isCMYK
    transform = head.profile.flatMap { clcms_prepare($0, head.profile_size, isCMYK) }
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
