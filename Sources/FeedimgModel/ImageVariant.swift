/// One of the pictures that an item offers.
public struct ImageVariant: Sendable, Hashable {
  /// Which of the pictures of an item this is.
  public enum Role: String, Sendable, Hashable, CaseIterable {
    case original
    case thumbnail
  }

  /// Which picture it is.
  public var role: Role
  /// Where to fetch it.
  public var url: ImageURL
  /// In pixels, where the feed tells.
  public var width: Int?
  /// In pixels, where the feed tells.
  public var height: Int?
  /// The encoded length, where the feed tells.
  public var size: ByteCount?
  /// Such as `image/jpeg`, where the feed tells.
  public var mediaType: String?

  /// Makes a variant; what the feed does not tell is nil.
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
}
