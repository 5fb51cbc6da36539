import Feedimg

/// The format and the size in which a client wants an image.
struct Conversion: Sendable, Hashable {
  enum Format: String, Sendable, CaseIterable {
    case png
    /// Pixels without compression (Netpbm).
    case pam
  }

  /// The longest side of a converted image, in pixels; its pixels fit into the limit for bodies.
  static let longestSide = 3840

  let format: Format
  /// The largest size, in pixels.
  let size: PixelSize

  /// Reads `format=`, for the size of the view in the same target; nil where it is absent.
  init?(_ target: RequestTarget, for size: DisplaySize?) throws(Problem) {
    guard let text = target["format"] else { return nil }
    guard let format = Format(rawValue: text) else {
      throw Problem(422, "`format=`: expected `png` or `pam`, found `\(text)`")
    }
    self.format = format
    let (width, height) = (size?.pixels.width ?? .max, size?.pixels.height ?? .max)
    self.size = PixelSize(width: min(width, Self.longestSide), height: min(height, Self.longestSide))
  }

  var mediaType: String {
    switch format {
    case .png: "image/png"
    case .pam: "image/x-portable-arbitrarymap"
    }
  }

  /// The tag of the converted image, which is known before the conversion.
  func tag(of original: EntityTag) -> EntityTag {
    EntityTag(of: Array("\(original.text) \(format) \(size)".utf8))
  }
}
