import FeedimgModel

/// A picture of an entry, with all versions that the entry names.
struct Picture {
  var kind = FeedItem.Kind.picture
  var id: String?
  var alternativeText: String?
  var page: String?
  /// The version that the format calls full size.
  var original: ImageVariant?
  /// Smaller versions, in the order of the document.
  var thumbnails: [ImageVariant] = []
  var placeholder = Placeholder()

  /// Adds a smaller version, if there is one.
  mutating func add(thumbnail: ImageVariant?) {
    if let thumbnail { thumbnails.append(thumbnail) }
  }

  /// Takes the widest version, the first of equals, as the original, and the others as thumbnails.
  ///
  /// - Returns: False without versions.
  mutating func take(_ versions: [ImageVariant]) -> Bool {
    let widest = versions.indices.max { (versions[$0].width ?? 0, $1) < (versions[$1].width ?? 0, $0) }
    guard let widest else { return false }
    thumbnails = versions
    original = thumbnails.remove(at: widest)
    original?.role = .original
    return true
  }

  /// The URL that identifies the picture within its entry.
  var key: String? { (original ?? thumbnails.first)?.url.key }

  /// Adds what another mention of the same picture says.
  mutating func merge(_ other: Picture) {
    thumbnails += other.thumbnails
    alternativeText = alternativeText ?? other.alternativeText
    guard let more = other.original, var known = original else { return }
    known.width = known.width ?? more.width
    known.height = known.height ?? more.height
    known.size = known.size ?? more.size
    known.mediaType = known.mediaType ?? more.mediaType
    original = known
  }

  /// The picture as an item; nil without any version.
  ///
  /// The thumbnail is the smallest of at least 320 pixels, or else the largest. Only a `picture` has an original.
  var item: FeedItem? {
    var item = FeedItem(
      id: id,
      alternativeText: alternativeText,
      page: page,
      original: kind == .picture ? original : nil,
      thumbnail: nil,
      placeholder: placeholder,
      kind: kind
    )
    var keys = Set([original?.url.key].compactMap { $0 })
    let different = thumbnails.filter { keys.insert($0.url.key).inserted }
    item.thumbnail = ImageVariant.thumbnail(among: different)
    item.sizes = different.filter { $0.width != nil && $0.url.key != item.thumbnail?.url.key }
    return item.original == nil && item.thumbnail == nil ? nil : item
  }
}
