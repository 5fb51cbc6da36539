/// A decoded image: rows of pixels from top to bottom, in sRGB, four bytes per pixel, alpha premultiplied.
public struct Bitmap: Sendable, Hashable {
  /// The order of a pixel's bytes in memory, on any processor.
  public enum Format: String, Sendable, Hashable, CaseIterable {
    /// Red first, as in GdkPixbuf and in Qt's `RGBA8888`.
    case rgba
    /// Blue first, as in Cairo's `ARGB32` on little-endian processors.
    case bgra
  }

  /// In pixels.
  public let size: PixelSize
  /// Bytes from the start of a row to the start of the next; a multiple of four, at least four times the width.
  public let stride: Int
  /// The order of a pixel's bytes.
  public let format: Format
  /// Whether every alpha value is 255.
  public let isOpaque: Bool
  /// `stride` times the height.
  public let bytes: [UInt8]

  /// Creates a bitmap whose rows have no padding; nil unless `bytes` has four bytes for each pixel.
  ///
  /// - Parameters:
  ///   - size: In pixels; each side is at least 1.
  ///   - format: The order of a pixel's bytes.
  ///   - isOpaque: Whether every alpha value is 255.
  ///   - bytes: The rows from top to bottom, in sRGB, with premultiplied alpha.
  public init?(size: PixelSize, format: Format, isOpaque: Bool, bytes: [UInt8]) {
    let (area, isTooGreat) = size.width.multipliedReportingOverflow(by: size.height)
    guard size.width > 0, size.height > 0, !isTooGreat, area <= Int.max / 4, bytes.count == area * 4 else {
      return nil
    }
    self.size = size
    self.stride = size.width * 4
    self.format = format
    self.isOpaque = isOpaque
    self.bytes = bytes
  }
}
