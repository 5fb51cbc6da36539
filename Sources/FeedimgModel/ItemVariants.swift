import FeedimgJSON

/// The two variants that feedimg uses, selected from all variants of an item.
struct ItemVariants {
  var original: ImageVariant?
  var thumbnail: ImageVariant?

  /// The smallest preferred width of a thumbnail, in pixels.
  private static let preferredThumbnailWidth = 320

  init(original: ImageVariant?, thumbnail: ImageVariant?) {
    self.original = original
    self.thumbnail = thumbnail
  }

  /// Removes a thumbnail with the same URL as the original.
  mutating func removeDuplicate() {
    if thumbnail?.url.key == original?.url.key { thumbnail = nil }
  }

  /// Reads `variants`: by `role`, or by width if none has a role.
  init(elements: [JSONValue]) throws(FeedItemError) {
    var listed: [(variant: ImageVariant, hasRole: Bool)] = []
    for (index, element) in elements.enumerated() {
      let path = "variants[\(index)]"
      guard case .object(let object) = element else {
        throw FeedItemError(path: path, message: "expected an object, found \(element.kind)")
      }
      let reader = MemberReader(object: object, path: path + ".")
      guard let url = try reader.url("url") else {
        throw FeedItemError(
          path: path + ".url",
          message: "expected an absolute http or https URL, found none"
        )
      }
      let role = try reader.role("role")
      if role == .original, listed.contains(where: { $0.variant.role == .original }) {
        throw FeedItemError(path: path + ".role", message: "expected one original, found a second")
      }
      listed.append(
        (
          ImageVariant(
            role: role ?? .thumbnail,
            url: url,
            width: try reader.count("width"),
            height: try reader.count("height"),
            size: try reader.count("bytes").map { ByteCount($0) },
            mediaType: try reader.text("type")
          ),
          role != nil
        )
      )
    }
    if let missing = listed.firstIndex(where: { !$0.hasRole && $0.variant.width == nil }) {
      throw FeedItemError(
        path: "variants[\(missing)]",
        message: "expected a `role` (original or thumbnail) or a `width`"
      )
    }
    var thumbnails = listed.filter { $0.variant.role == .thumbnail }
    var original = listed.first { $0.variant.role == .original }?.variant
    if original == nil,
      let widest = thumbnails.filter({ !$0.hasRole }).map(\.variant).max(by: {
        ($0.width ?? 0) < ($1.width ?? 0)
      })
    {
      original = widest
      original?.role = .original
      thumbnails.removeAll { $0.variant.url.key == widest.url.key }
    }
    self.original = original
    thumbnail = Self.thumbnail(among: thumbnails.map(\.variant))
    removeDuplicate()
  }

  /// The smallest variant that is wide enough, otherwise the widest; the first of equals.
  private static func thumbnail(among variants: [ImageVariant]) -> ImageVariant? {
    func width(_ variant: ImageVariant) -> Int { variant.width ?? 0 }
    let wideEnough = variants.filter { width($0) >= preferredThumbnailWidth }
    if let smallest = wideEnough.min(by: { width($0) < width($1) }) { return smallest }
    let greatest = variants.map(width).max()
    return variants.first { width($0) == greatest }
  }

  /// Checks that the short form of an item agrees with its full form.
  func check(_ short: ItemVariants) throws(FeedItemError) {
    func check(_ name: String, _ mine: ImageVariant?, _ other: ImageVariant?) throws(FeedItemError) {
      guard let other, other.url.key != mine?.url.key else { return }
      throw FeedItemError(
        path: name,
        message: "expected the same URL as in `variants`, `\(mine?.url.text ?? "none")`"
      )
    }
    try check("originalImage", original, short.original)
    let isOneForBoth = thumbnail == nil && short.thumbnail?.url.key == original?.url.key
    if !isOneForBoth { try check("thumbnailImage", thumbnail, short.thumbnail) }
  }
}
