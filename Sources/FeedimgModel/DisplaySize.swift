/// A size in pixels.
public struct PixelSize: Sendable, Hashable {
  /// From left to right.
  public var width: Int
  /// From top to bottom.
  public var height: Int

  /// Makes a size; nothing is checked.
  public init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }
}

extension PixelSize: CustomStringConvertible {
  /// Such as `640×480`.
  public var description: String { "\(width)×\(height)" }
}

/// How large an image is to be shown: a box in points, and how many pixels a point has.
public struct DisplaySize: Sendable, Hashable {
  /// How an image of another shape meets the box.
  public enum Fitting: String, Sendable, Hashable, CaseIterable {
    /// The whole image is inside; one side may be shorter than the box.
    case fit
    /// The whole box is covered; what juts out on one side is cut away evenly.
    case fill
  }

  /// In points.
  public var width: Double
  /// In points.
  public var height: Double
  /// Pixels a point, such as 2 on a dense screen.
  public var scale: Double
  /// How an image of another shape meets the box.
  public var fitting: Fitting

  /// Makes a size.
  ///
  /// - Parameters:
  ///   - width: In points.
  ///   - height: In points.
  ///   - scale: Pixels a point.
  ///   - fitting: How an image of another shape meets the box.
  public init(width: Double, height: Double, scale: Double = 1, fitting: Fitting = .fit) {
    self.width = width
    self.height = height
    self.scale = scale
    self.fitting = fitting
  }

  /// The greatest side, in pixels; more than any codec takes.
  private static let greatest = 1_000_000.0

  /// The box in pixels: rounded up, and at least one on each side whatever the numbers.
  public var pixels: PixelSize {
    func side(_ points: Double) -> Int {
      let pixels = (points * scale).rounded(.up)
      // No number is neither greater nor less.
      return pixels >= 1 ? Int(min(pixels, Self.greatest)) : 1
    }
    return PixelSize(width: side(width), height: side(height))
  }
}
