public import FeedimgModel
import FeedimgPipeline

extension Placeholder {
  /// The longer side of a bitmap made from a BlurHash, in pixels; more would add no detail.
  private static let side = 32.0

  /// Returns a small picture to stretch over the place of the image.
  ///
  /// It is made of the ThumbHash, else of the BlurHash, else of the colour.
  ///
  /// - Parameters:
  ///   - aspect: The width of the image divided by its height, if known. Only a BlurHash needs it.
  ///   - format: The byte order of a pixel.
  /// - Returns: At most 32 pixels on the longer side, one pixel for a colour; nil without a valid
  ///   placeholder.
  public func bitmap(aspect: Double? = nil, format: Bitmap.Format = .rgba) -> Bitmap? {
    if let hash = thumbHash.flatMap(Base64.decode).flatMap(ThumbHash.init) {
      return hash.bitmap(format: format)
    }
    if let hash = blurHash.flatMap(BlurHash.init) {
      let aspect = aspect.flatMap { $0 > 0 && $0.isFinite ? $0 : nil } ?? 1
      let (width, height) = aspect > 1 ? (Self.side, Self.side / aspect) : (Self.side * aspect, Self.side)
      let size = PixelSize(width: max(1, Int(width.rounded())), height: max(1, Int(height.rounded())))
      return hash.bitmap(size, format: format)
    }
    guard let color, color.first == "#", color.utf8.count == 7, let value = Int(color.dropFirst(), radix: 16),
      value >= 0
    else { return nil }
    let (red, green, blue) = (UInt8(value >> 16 & 255), UInt8(value >> 8 & 255), UInt8(value & 255))
    let bytes = format == .rgba ? [red, green, blue, 255] : [blue, green, red, 255]
    return Bitmap(size: PixelSize(width: 1, height: 1), format: format, isOpaque: true, bytes: bytes)
  }
}
