public import FeedimgModel

/// A preview of an image that is still arriving.
public struct ImageScan: Sendable, Hashable {
  /// The variant that is arriving.
  public var variant: ImageVariant
  /// The complete picture at the requested size, blurred where data is still missing.
  public var bitmap: Bitmap
  /// The resolution of the details that the bitmap shows; see ``DecodedImage/detail``.
  public var detail: PixelSize
  /// The number of bytes that it was decoded from.
  var length: Int

  /// Whether this preview shows more detail than another one, or comes from more bytes.
  package func isSharper(than other: ImageScan) -> Bool {
    (detail.area, length) > (other.detail.area, other.length)
  }
}

extension PixelSize {
  /// The number of pixels; the sizes of decoded images cannot overflow it.
  package var area: Int { width * height }
}
