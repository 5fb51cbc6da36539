/// One picture of a feed: an original, a thumbnail, or both.
public struct FeedItem: Sendable, Hashable {
  /// The feed's own name for it.
  public var id: String?
  /// The description for those who cannot see the picture.
  public var alternativeText: String?
  /// The page that the picture belongs to; not fetched.
  public var page: String?
  public var original: ImageVariant?
  public var thumbnail: ImageVariant?
  public var placeholder: Placeholder

  public init(
    id: String? = nil,
    alternativeText: String? = nil,
    page: String? = nil,
    original: ImageVariant?,
    thumbnail: ImageVariant?,
    placeholder: Placeholder = Placeholder()
  ) {
    self.id = id
    self.alternativeText = alternativeText
    self.page = page
    self.original = original
    self.thumbnail = thumbnail
    self.placeholder = placeholder
  }

  /// The variant of a role, if the item has one.
  public subscript(role: ImageVariant.Role) -> ImageVariant? {
    role == .original ? original : thumbnail
  }
}
