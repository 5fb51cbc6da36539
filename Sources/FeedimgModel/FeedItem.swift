/// One image of a feed, as an original, a thumbnail, or both.
public struct FeedItem: Sendable, Hashable {
  /// The use of an image.
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
  public var id: String? {
    get { storage.values.id }
    set { update { $0.id = newValue } }
  }
  /// The description for users who cannot see the image.
  public var alternativeText: String? {
    get { storage.values.alternativeText }
    set { update { $0.alternativeText = newValue } }
  }
  /// The page that the image belongs to; feedimg does not fetch it.
  public var page: String? {
    get { storage.values.page }
    set { update { $0.page = newValue } }
  }
  /// The image in full size, if the feed has it.
  public var original: ImageVariant? {
    get { storage.values.original }
    set { update { $0.original = newValue } }
  }
  /// A smaller version, if the feed has a different one.
  public var thumbnail: ImageVariant? {
    get { storage.values.thumbnail }
    set { update { $0.thumbnail = newValue } }
  }
  /// Drawn until an image is available.
  public var placeholder: Placeholder {
    get { storage.values.placeholder }
    set { update { $0.placeholder = newValue } }
  }
  /// Other sizes of the original and the thumbnail, by ``ImageVariant/role``; the size of a view chooses.
  public var sizes: [ImageVariant] {
    get { storage.values.sizes }
    set { update { $0.sizes = newValue } }
  }
  /// The use of the image; policies do not depend on it.
  public var kind: Kind {
    get { storage.values.kind }
    set { update { $0.kind = newValue } }
  }

  private var storage: Storage

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
    storage = Storage(
      Values(
        id: id,
        alternativeText: alternativeText,
        page: page,
        original: original,
        thumbnail: thumbnail,
        placeholder: placeholder,
        sizes: sizes,
        kind: kind
      )
    )
  }

  private struct Values: Sendable, Hashable {
    var id: String?
    var alternativeText: String?
    var page: String?
    var original: ImageVariant?
    var thumbnail: ImageVariant?
    var placeholder: Placeholder
    var sizes: [ImageVariant]
    var kind: Kind
  }

  /// The values in one object, because slots, loads and decisions copy items often.
  private final class Storage: Sendable, Hashable {
    let values: Values

    init(_ values: Values) { self.values = values }

    static func == (left: Storage, right: Storage) -> Bool { left === right || left.values == right.values }

    func hash(into hasher: inout Hasher) { hasher.combine(values) }
  }

  private mutating func update(_ change: (inout Values) -> Void) {
    var values = storage.values
    change(&values)
    storage = Storage(values)
  }

  /// The variant with a role, if the item has one.
  public subscript(role: ImageVariant.Role) -> ImageVariant? {
    role == .original ? original : thumbnail
  }
}
