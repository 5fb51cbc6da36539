public import FeedimgModel

/// A picture that is not yet as sharp as it will be: what has come of an image whose transfer runs.
public struct ImageScan: Sendable, Hashable {
  /// What is on its way.
  public var variant: ImageVariant
  /// All of the picture at the size that was asked for, soft where more is still to come.
  public var bitmap: Bitmap
  /// How many pixels tell apart what the bitmap shows; see ``DecodedImage/detail``.
  public var detail: PixelSize
  /// How many bytes of the image it was decoded from.
  var length: Int

  /// Whether it is better to look at than an earlier one.
  func isSharper(than other: ImageScan) -> Bool {
    (detail.area, length) > (other.detail.area, other.length)
  }

  /// Whether it is better to look at than what would be drawn without it.
  ///
  /// Of a whole image each pixel is right. A scan is counted by the pixels that are right as well, so that the first
  /// scans of a large original may well be better than a small thumbnail, and those of a small one are not; where they
  /// are equal, what is whole stays.
  func isSharper(than content: Presentation.Content) -> Bool {
    guard case .image(let image) = content else { return true }
    guard image.variant.role == .thumbnail, variant.role == .original, let bitmap = image.bitmap else {
      return false
    }
    return detail.area > bitmap.size.area
  }
}

extension PixelSize {
  /// How many pixels; sizes of what is decoded are far from overflowing.
  var area: Int { width * height }
}
