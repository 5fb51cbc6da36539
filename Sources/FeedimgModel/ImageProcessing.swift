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

  /// Rounds with a radius in pixels.
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

  /// Reduces to a size in pixels.
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

/// Blurs an image, such as a background or a sensitive picture.
public struct Blur: ImageProcessing, Hashable {
  /// In pixels: how far each pixel spreads; 0 changes nothing.
  public var radius: Int

  /// Blurs with a radius in pixels.
  public init(radius: Int) { self.radius = radius }

  /// The name and the radius.
  public var identifier: String { "blur \(radius)" }

  /// Blurs a picture; beyond its edges, the pixels of the edges repeat.
  public func process(_ bitmap: Bitmap) throws(DecodeError) -> Bitmap {
    let (width, height) = (bitmap.size.width, bitmap.size.height)
    guard radius > 0 else { return bitmap }
    var bytes = bitmap.bytes
    // Three means in a row are close to a Gaussian blur (W3C Filter Effects, feGaussianBlur).
    let part = max(1, min(radius, max(width, height)) / 3)
    for _ in 0..<3 {
      bytes = Self.means(of: bytes, lines: (height, bitmap.stride), pixels: (width, 4), part)
      bytes = Self.means(of: bytes, lines: (width, 4), pixels: (height, bitmap.stride), part)
    }
    return try Bitmap.processed(bitmap.size, bitmap.format, isOpaque: bitmap.isOpaque, bytes)
  }

  /// Replaces each value by the mean of those up to `radius` pixels away on its line.
  private static func means(
    of bytes: [UInt8],
    lines: (count: Int, step: Int),
    pixels: (count: Int, step: Int),
    _ radius: Int
  ) -> [UInt8] {
    var result = bytes
    let size = 2 * radius + 1
    for line in 0..<lines.count {
      for channel in 0..<4 {
        let start = line * lines.step + channel
        func value(_ index: Int) -> Int {
          Int(bytes[start + min(max(index, 0), pixels.count - 1) * pixels.step])
        }
        var sum = (-radius...radius).reduce(0) { $0 + value($1) }
        for index in 0..<pixels.count {
          result[start + index * pixels.step] = UInt8((sum + radius) / size)
          sum += value(index + radius + 1) - value(index - radius)
        }
      }
    }
    return result
  }
}

/// Paints a colour over an image; transparent parts stay transparent.
public struct Tint: ImageProcessing, Hashable {
  /// The parts of the colour, from 0 to 255.
  public var red: UInt8, green: UInt8, blue: UInt8
  /// From 0, which changes nothing, to 1, which leaves only the shape of the image.
  public var opacity: Double

  /// Paints with a colour and an opacity.
  public init(red: UInt8, green: UInt8, blue: UInt8, opacity: Double = 1) {
    (self.red, self.green, self.blue) = (red, green, blue)
    self.opacity = opacity
  }

  /// The name, the colour and the opacity.
  public var identifier: String { "tint \(red) \(green) \(blue) \(opacity)" }

  /// Paints the colour (`source-atop` of W3C Compositing).
  public func process(_ bitmap: Bitmap) throws(DecodeError) -> Bitmap {
    let opacity = opacity.isNaN ? 0 : min(max(opacity, 0), 1)
    guard opacity > 0 else { return bitmap }
    let colour = (bitmap.format == .bgra ? [blue, green, red] : [red, green, blue]).map { Double($0) }
    var bytes = bitmap.bytes
    for pixel in stride(from: 0, to: bytes.count - 3, by: 4) {
      let alpha = Double(bytes[pixel + 3]) / 255
      for channel in 0..<3 {
        let old = Double(bytes[pixel + channel])
        bytes[pixel + channel] = UInt8((old * (1 - opacity) + colour[channel] * alpha * opacity).rounded())
      }
    }
    return try Bitmap.processed(bitmap.size, bitmap.format, isOpaque: bitmap.isOpaque, bytes)
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
