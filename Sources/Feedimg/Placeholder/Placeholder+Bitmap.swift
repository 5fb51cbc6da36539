public import FeedimgModel
import FeedimgPipeline

extension Placeholder {
  /// The longer side of what a BlurHash becomes, in pixels; it has nothing finer.
  private static let side = 32.0

  /// A small picture to be stretched over the place of the image: of the ThumbHash, else the BlurHash, else the colour.
  ///
  /// - Parameters:
  ///   - aspect: Width by height of the image, where it is known; it counts for a BlurHash, which does not say.
  ///   - format: The order of the bytes of a pixel.
  /// - Returns: At most 32 pixels long, one for a colour; nil where there is none that can be read.
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
