/// Changes the pixels of decoded images (a port), such as to round their corners.
///
/// Memory keeps the changed pixels by ``identifier``.
public protocol ImageProcessing: Sendable {
  /// A text that is equal for processors that make equal pixels, such as `rounded corners 12`.
  var identifier: String { get }

  /// Changes an image; called on any thread, also for parts of an image that is still arriving.
  ///
  /// - Parameter bitmap: The image, or the result of the processor before.
  /// - Returns: The new image.
  /// - Throws: ``DecodeError``; the image then counts as not decoded.
  func process(_ bitmap: Bitmap) throws(DecodeError) -> Bitmap
}

/// Rounds the corners of an image.
public struct RoundedCorners: ImageProcessing, Hashable {
  /// In pixels; at most half of the shorter side counts.
  public var radius: Int

  /// - Parameter radius: In pixels; at most half of the shorter side counts.
  public init(radius: Int) { self.radius = radius }

  /// The name and the radius.
  public var identifier: String { "rounded corners \(radius)" }

  /// Makes the corners of a picture transparent.
  public func process(_ bitmap: Bitmap) throws(DecodeError) -> Bitmap {
    let (width, height) = (bitmap.size.width, bitmap.size.height)
    let radius = min(max(radius, 0), width / 2, height / 2)
    guard radius > 0 else { return bitmap }
    var bytes = bitmap.bytes
    for y in 0..<radius {
      for x in 0..<radius {
        // The distance of the pixel's centre from that of the corner's circle.
        let (dx, dy) = (Double(radius - x) - 0.5, Double(radius - y) - 0.5)
        let coverage = min(max(Double(radius) - (dx * dx + dy * dy).squareRoot() + 0.5, 0), 1)
        guard coverage < 1 else { continue }
        for row in [y, height - 1 - y] {
          for column in [x, width - 1 - x] {
            let pixel = row * bitmap.stride + column * 4
            for index in pixel..<(pixel + 4) {
              bytes[index] = UInt8((Double(bytes[index]) * coverage).rounded())
            }
          }
        }
      }
    }
    return try Bitmap.processed(bitmap.size, bitmap.format, isOpaque: false, bytes)
  }
}

/// Reduces an image to a size, also if that changes its shape.
public struct Resize: ImageProcessing, Hashable {
  /// In pixels; a longer side than that of the image counts as that side.
  public var size: PixelSize

  /// - Parameter size: In pixels; a longer side than that of the image counts as that side.
  public init(to size: PixelSize) { self.size = size }

  /// The name and the size.
  public var identifier: String { "resize \(size.width) \(size.height)" }

  /// Scales a picture down.
  public func process(_ bitmap: Bitmap) throws(DecodeError) -> Bitmap {
    let source = bitmap.size
    let (width, height) = (min(max(size.width, 1), source.width), min(max(size.height, 1), source.height))
    guard (width, height) != (source.width, source.height) else { return bitmap }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(width * height * 4)
    for y in 0..<height {
      let rows = (y * source.height / height)..<((y + 1) * source.height / height)
      for x in 0..<width {
        let columns = (x * source.width / width)..<((x + 1) * source.width / width)
        // The mean of the pixels below; premultiplied values need no weights.
        let count = rows.count * columns.count
        for channel in 0..<4 {
          var sum = count / 2
          for row in rows {
            for column in columns { sum += Int(bitmap.bytes[row * bitmap.stride + column * 4 + channel]) }
          }
          bytes.append(UInt8(sum / count))
        }
      }
    }
    let size = PixelSize(width: width, height: height)
    return try Bitmap.processed(size, bitmap.format, isOpaque: bitmap.isOpaque, bytes)
  }
}

extension Bitmap {
  fileprivate static func processed(
    _ size: PixelSize,
    _ format: Format,
    isOpaque: Bool,
    _ bytes: [UInt8]
  ) throws(DecodeError) -> Bitmap {
    guard let bitmap = Bitmap(size: size, format: format, isOpaque: isOpaque, bytes: bytes) else {
      throw DecodeError(.unavailable, "a processor made pixels of another size")
    }
    return bitmap
  }
}

extension DecodeRequest {
  /// Applies the processors in order.
  package func processed(_ bitmap: Bitmap) throws(DecodeError) -> Bitmap {
    var bitmap = bitmap
    for processor in processors { bitmap = try processor.process(bitmap) }
    return bitmap
  }

  /// The identifiers of the processors, in order.
  package var processorIdentifiers: [String] { processors.map(\.identifier) }

  /// Whether two requests have equal pixels as their result.
  public static func == (first: DecodeRequest, second: DecodeRequest) -> Bool {
    (first.size, first.format, first.damage) == (second.size, second.format, second.damage)
      && first.processorIdentifiers == second.processorIdentifiers
  }

  /// Feeds what `==` compares to the hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(size)
    hasher.combine(format)
    hasher.combine(damage)
    hasher.combine(processorIdentifiers)
  }
}
