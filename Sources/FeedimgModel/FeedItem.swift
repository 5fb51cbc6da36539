/// One image of a feed, as an original, a thumbnail, or both.
public struct FeedItem: Sendable, Hashable {
  /// What an image is for.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// An image that users look at.
    case picture
    /// The image of an account. It has only a thumbnail, so that policies treat it as a small image.
    case avatar
    /// A custom emoji, with only a thumbnail.
    case emoji
    /// A frame or cover of a video or audio file, with only a thumbnail.
    case poster
  }

  /// The feed's identifier of the item.
  public var id: String?
  /// The description for users who cannot see the image.
  public var alternativeText: String?
  /// The page that the image belongs to; feedimg does not fetch it.
  public var page: String?
  /// The image in full size, if the feed has it.
  public var original: ImageVariant? {
    get { boxedOriginal?.value }
    set { boxedOriginal = newValue.map(Boxed.init) }
  }
  /// A smaller version, if the feed has a different one.
  public var thumbnail: ImageVariant? {
    get { boxedThumbnail?.value }
    set { boxedThumbnail = newValue.map(Boxed.init) }
  }
  /// Drawn until an image is available.
  public var placeholder: Placeholder
  /// Other sizes of the original and the thumbnail, by ``ImageVariant/role``; the size of a view chooses.
  public var sizes: [ImageVariant]
  /// What the image is for; policies do not depend on it.
  public var kind: Kind

  private var boxedOriginal: Boxed<ImageVariant>?
  private var boxedThumbnail: Boxed<ImageVariant>?

  /// Creates an item.
  ///
  /// Without any variant it only shows its placeholder.
  public init(
    id: String? = nil,
    alternativeText: String? = nil,
    page: String? = nil,
    original: ImageVariant?,
    thumbnail: ImageVariant?,
    placeholder: Placeholder = Placeholder(),
    sizes: [ImageVariant] = [],
    kind: Kind = .picture
  ) {
    self.id = id
    self.alternativeText = alternativeText
    self.page = page
    boxedOriginal = original.map(Boxed.init)
    boxedThumbnail = thumbnail.map(Boxed.init)
    self.placeholder = placeholder
    self.sizes = sizes
    self.kind = kind
  }

  /// The variant with a role, if the item has one.
  public subscript(role: ImageVariant.Role) -> ImageVariant? {
    role == .original ? original : thumbnail
  }
}
