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
  package func isSharper(than other: ImageScan) -> Bool {
    (detail.area, length) > (other.detail.area, other.length)
  }
}

extension PixelSize {
  /// How many pixels; sizes of what is decoded are far from overflowing.
  package var area: Int { width * height }
}
