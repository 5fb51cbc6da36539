import FeedimgModel

/// The visible part of an encoded image, and its size in pixels (pure).
struct Placement: Sendable, Hashable {
  /// A part of the stored image, in its pixels.
  struct Part: Sendable, Hashable {
    var left: Double
    var top: Double
    var width: Double
    var height: Double
  }

  /// Whether the orientation of the image exchanges width and height.
  var isTurned: Bool
  /// The size of the whole image, upright.
  var sourceSize: PixelSize
  /// The visible part of the stored image.
  var part: Part
  /// The size of the part in the output, before rotation.
  var storedSize: PixelSize

  /// - Parameters:
  ///   - stored: The size of the stored image; at least one pixel.
  ///   - isTurned: See ``isTurned``.
  ///   - display: The size to fit or fill; nil for the size of the image.
  init(stored: PixelSize, isTurned: Bool, display: DisplaySize?) {
    self.isTurned = isTurned
    sourceSize = isTurned ? stored.turned : stored
    let (width, height) = (Double(sourceSize.width), Double(sourceSize.height))
    var shown = (width: width, height: height)
    var target = sourceSize
    if let display {
      let box = display.pixels
      let (across, down) = (Double(box.width) / width, Double(box.height) / height)
      switch display.fitting {
      case .fit:
        let scale = min(across, down, 1)
        target = PixelSize(width: Self.pixels(width * scale), height: Self.pixels(height * scale))
      case .fill:
        // The largest part with the aspect ratio of the box.
        let scale = max(across, down)
        shown = (min(width, Double(box.width) / scale), min(height, Double(box.height) / scale))
        target = PixelSize(
          width: min(box.width, Self.pixels(shown.width)),
          height: min(box.height, Self.pixels(shown.height))
        )
      }
    }
    storedSize = isTurned ? target.turned : target
    let (across, down) = isTurned ? (shown.height, shown.width) : (shown.width, shown.height)
    part = Part(
      left: (Double(stored.width) - across) / 2,
      top: (Double(stored.height) - down) / 2,
      width: across,
      height: down
    )
  }

  /// The smallest size of the whole stored image that needs no upscaling.
  func minimumSize(of stored: PixelSize) -> PixelSize {
    func side(_ whole: Int, _ target: Int, _ part: Double) -> Int {
      min(whole, Int((Double(whole) * Double(target) / part).rounded(.up)))
    }
    return PixelSize(
      width: side(stored.width, storedSize.width, part.width),
      height: side(stored.height, storedSize.height, part.height)
    )
  }

  /// The resolution of the visible part, where the whole stored image is known at a lower one.
  func detail(of stored: PixelSize, known: PixelSize) -> PixelSize {
    func side(_ shown: Int, _ part: Double, _ known: Int, _ stored: Int) -> Int {
      min(shown, Int(part * Double(known) / Double(stored)))
    }
    let detail = PixelSize(
      width: side(storedSize.width, part.width, known.width, stored.width),
      height: side(storedSize.height, part.height, known.height, stored.height)
    )
    return isTurned ? detail.turned : detail
  }

  private static func pixels(_ length: Double) -> Int { max(1, Int(length.rounded())) }
}

extension PixelSize {
  /// With width and height exchanged.
  var turned: PixelSize { PixelSize(width: height, height: width) }
}
