import FeedimgModel

/// The elements of Media RSS (rssboard.org/media-rss) and the enclosures of an entry.
struct MediaRSS {
  let id: String?
  let page: String?
  /// The thumbnails of the entry as a whole.
  private(set) var thumbnails: [ImageVariant] = []
  /// Whether the entry has media other than pictures, whose frame or cover a thumbnail then is.
  private(set) var hasOtherMedia = false

  /// Reads one element of the entry.
  mutating func read(_ element: XMLNode, _ entry: inout Entry) {
    switch element.name {
    case "content": addPicture(of: [element], in: element, &entry)
    case "group":
      addPicture(of: element.children.filter { $0.isMedia && $0.name == "content" }, in: element, &entry)
    case "thumbnail": variant(.thumbnail, element, "url", &entry).map { thumbnails.append($0) }
    default: break
    }
  }

  /// Reads an enclosure, whose address is in the attribute of a name.
  mutating func readEnclosure(_ element: XMLNode, _ name: String, _ entry: inout Entry) {
    guard isImage(element) else {
      hasOtherMedia = true
      return
    }
    entry.add(Picture(id: id, page: page, original: variant(.original, element, name, &entry)))
  }

  /// Gives the thumbnails of the entry to its first picture, or adds a picture without an original.
  func finish(_ entry: inout Entry) {
    guard entry.isEmpty else { return entry.addToFirst(thumbnails) }
    entry.add(Picture(kind: hasOtherMedia ? .poster : .picture, id: id, page: page, thumbnails: thumbnails))
  }

  /// Adds the picture of an element: its largest version is the original, and the others are thumbnails.
  private mutating func addPicture(of contents: [XMLNode], in element: XMLNode, _ entry: inout Entry) {
    let images = contents.filter(isImage)
    if images.count < contents.count { hasOtherMedia = true }
    var picture = Picture(id: id, page: page)
    let hasImage = picture.take(images.compactMap { variant(.thumbnail, $0, "url", &entry) })
    if !hasImage, !contents.isEmpty { picture.kind = .poster }
    let inner = ([element] + contents).flatMap(\.children).filter(\.isMedia)
    var keys = Set<ObjectIdentifier>()
    for thumbnail in inner
    where thumbnail.name == "thumbnail" && keys.insert(ObjectIdentifier(thumbnail)).inserted {
      picture.add(thumbnail: variant(.thumbnail, thumbnail, "url", &entry))
    }
    picture.alternativeText =
      inner.lazy.filter { ["description", "title"].contains($0.name) }
      .compactMap { $0.text.nonBlank }.first
    entry.add(picture)
  }

  private func isImage(_ element: XMLNode) -> Bool {
    let medium = element.attributes["medium"]?.nonBlank?.lowercased()
    let type = element.attributes["type"]?.nonBlank?.lowercased()
    return medium == "image" || (medium == nil && type?.hasPrefix("image/") == true)
  }

  private func variant(
    _ role: ImageVariant.Role,
    _ element: XMLNode,
    _ name: String,
    _ entry: inout Entry
  ) -> ImageVariant? {
    entry.base = element.base
    let place = "\(element.isMedia ? "media:" : "")\(element.name) \(name)"
    var variant = entry.variant(
      role,
      element.attributes[name],
      place,
      width: element.number("width"),
      height: element.number("height")
    )
    variant?.size = (element.number("fileSize") ?? element.number("length")).map { ByteCount($0) }
    variant?.mediaType = element.attributes["type"]?.nonBlank?.lowercased()
    return variant
  }
}
