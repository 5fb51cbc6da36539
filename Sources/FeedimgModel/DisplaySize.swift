/// A size in pixels.
public struct PixelSize: Sendable, Hashable {
  /// In pixels.
  public var width: Int
  /// In pixels.
  public var height: Int

  /// Creates a size without checking it.
  public init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }
}

extension PixelSize: CustomStringConvertible {
  /// Such as `640×480`.
  public var description: String { "\(width)×\(height)" }
}

/// The display size of an image: a box in points, and the pixels per point.
public struct DisplaySize: Sendable, Hashable {
  /// How an image with another aspect ratio fits the box.
  public enum Fitting: String, Sendable, Hashable, CaseIterable {
    /// Shows the whole image; one side may be shorter than the box.
    case fit
    /// Covers the whole box; the image is cropped evenly on two sides.
    case fill
  }

  /// In points.
  public var width: Double
  /// In points.
  public var height: Double
  /// Pixels per point, such as 2 on a high-density screen.
  public var scale: Double
  /// How an image with another aspect ratio fits the box.
  public var fitting: Fitting

  /// Creates a size.
  public init(width: Double, height: Double, scale: Double = 1, fitting: Fitting = .fit) {
    self.width = width
    self.height = height
    self.scale = scale
    self.fitting = fitting
  }

  /// Creates a size from sides that may be absent; nil if both are.
  ///
  /// An absent side is not positive, and sets no limit. The image is then not cropped, because the shape of the
  /// view is unknown. A scale that is not positive is 1.
  package init?(maximumWidth: Double, maximumHeight: Double, scale: Double = 1, fitting: Fitting = .fit) {
    guard maximumWidth > 0 || maximumHeight > 0 else { return nil }
    let scale = scale > 0 ? scale : 1
    let absent = Self.maximum / scale
    self.init(
      width: maximumWidth > 0 ? maximumWidth : absent,
      height: maximumHeight > 0 ? maximumHeight : absent,
      scale: scale,
      fitting: maximumWidth > 0 && maximumHeight > 0 ? fitting : .fit
    )
  }

  /// The longest side, in pixels; longer than any codec accepts.
  private static let maximum = 1_000_000.0

  /// Width and height in points; zero for a side that sets no limit.
  package var limits: (width: Double, height: Double) {
    let (box, absent) = (pixels, Int(Self.maximum))
    return (box.width < absent ? width : 0, box.height < absent ? height : 0)
  }

  /// Whether both sides set a limit.
  package var hasShape: Bool { limits.width > 0 && limits.height > 0 }

  /// The box in pixels: rounded up, and at least 1 on each side even for invalid numbers.
  public var pixels: PixelSize {
    func side(_ points: Double) -> Int {
      let pixels = (points * scale).rounded(.up)
      // The comparison is false for NaN.
      return pixels >= 1 ? Int(min(pixels, Self.maximum)) : 1
    }
    return PixelSize(width: side(width), height: side(height))
  }
}
