/// One version of an item's image.
public struct ImageVariant: Sendable, Hashable {
  /// The use of the version.
  public enum Role: String, Sendable, Hashable, CaseIterable {
    case original
    case thumbnail
  }

  /// The use of this version.
  public var role: Role
  /// The URL of the image.
  public var url: ImageURL
  /// In pixels; nil if the feed has no width.
  public var width: Int?
  /// In pixels; nil if the feed has no height.
  public var height: Int?
  /// The encoded length; nil if the feed has no length.
  public var size: ByteCount?
  /// Such as `image/jpeg`; nil if the feed has no type.
  public var mediaType: String?

  /// Creates a variant.
  ///
  /// Values that the feed lacks are nil.
  public init(
    role: Role,
    url: ImageURL,
    width: Int? = nil,
    height: Int? = nil,
    size: ByteCount? = nil,
    mediaType: String? = nil
  ) {
    self.role = role
    self.url = url
    self.width = width
    self.height = height
    self.size = size
    self.mediaType = mediaType
  }

  /// The smallest preferred width of a thumbnail, in pixels.
  private static let preferredThumbnailWidth = 320

  /// The smallest variant that is wide enough for a thumbnail, otherwise the widest; the first of equals.
  package static func thumbnail(among variants: [ImageVariant]) -> ImageVariant? {
    func width(_ variant: ImageVariant) -> Int { variant.width ?? 0 }
    let wideEnough = variants.filter { width($0) >= preferredThumbnailWidth }
    if let smallest = wideEnough.min(by: { width($0) < width($1) }) { return smallest }
    let maximum = variants.map(width).max()
    return variants.first { width($0) == maximum }
  }
}
