/// A decoded picture: rows of pixels from top to bottom, in sRGB, four bytes a pixel, alpha premultiplied.
public struct Bitmap: Sendable, Hashable {
  /// The order of the bytes of a pixel in memory, whatever the processor.
  public enum Format: String, Sendable, Hashable, CaseIterable {
    /// Red first, as GdkPixbuf's and Qt's `RGBA8888` have it.
    case rgba
    /// Blue first, as Cairo's `ARGB32` has it on little-endian processors.
    case bgra
  }

  /// In pixels.
  public let size: PixelSize
  /// Bytes from the start of a row to the start of the next; a multiple of four, at least four times the width.
  public let stride: Int
  /// The order of the bytes of a pixel.
  public let format: Format
  /// Whether every alpha is 255.
  public let isOpaque: Bool
  /// `stride` times the height.
  public let bytes: [UInt8]

  /// Makes a picture of rows without gaps.
  ///
  /// - Returns: Nil if the bytes are not four for each pixel.
  package init?(size: PixelSize, format: Format, isOpaque: Bool, bytes: [UInt8]) {
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
