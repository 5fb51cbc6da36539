/// One picture of a feed: an original, a thumbnail, or both.
public struct FeedItem: Sendable, Hashable {
  /// The feed's own name for it.
  public var id: String?
  /// The description for those who cannot see the picture.
  public var alternativeText: String?
  /// The page that the picture belongs to; not fetched.
  public var page: String?
  /// The picture in full size, if the feed offers one.
  public var original: ImageVariant?
  /// A smaller one, if the feed offers one that differs.
  public var thumbnail: ImageVariant?
  /// What to draw while there is no picture.
  public var placeholder: Placeholder

  /// Makes an item; one of the variants should be there for it to be of use.
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
