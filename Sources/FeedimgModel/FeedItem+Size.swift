extension FeedItem {
  /// Chooses among the versions of the image by the size of a view; the item keeps all versions.
  ///
  /// The original and the thumbnail each become their smallest version that the view does not enlarge, or else
  /// the largest one. A thumbnail that the view does not enlarge replaces the original. Cached versions come
  /// first, so that no version is fetched in place of a cached larger one.
  package func sized(for size: DisplaySize, isCached: (ImageURL) -> Bool) -> FeedItem {
    // Most feeds give no width of the thumbnail and no other sizes.
    guard !sizes.isEmpty || thumbnail?.width != nil else { return self }
    func best(_ role: ImageVariant.Role) -> (variant: ImageVariant?, isEnough: Bool) {
      let versions = sizes.filter { $0.role == role } + [self[role]].compactMap { $0 }
      let enough = versions.filter { $0.covers(size) }
      let cached = enough.filter { isCached($0.url) }
      let smallest = (cached.isEmpty ? enough : cached).min { ($0.width ?? 0) < ($1.width ?? 0) }
      if let smallest { return (smallest, true) }
      // A version without a width is the largest of the feed.
      let largest = versions.max { ($0.width ?? .max) < ($1.width ?? .max) }
      return (largest, false)
    }
    var item = self
    let (large, small) = (best(.original), best(.thumbnail))
    (item.original, item.thumbnail) = (large.variant, small.variant)
    if let thumbnail = small.variant, let original = large.variant, small.isEnough,
      thumbnail.hasShape(of: original), isCached(thumbnail.url) || !isCached(original.url)
    {
      item.original = nil
    }
    return item
  }
}

extension ImageVariant {
  /// Whether a view of this size does not enlarge the version; false if the feed has no width.
  fileprivate func covers(_ size: DisplaySize) -> Bool {
    guard let width else { return false }
    let box = size.pixels
    guard let height else { return width >= box.width }
    return switch size.fitting {
    case .fit: width >= box.width || height >= box.height
    case .fill: width >= box.width && height >= box.height
    }
  }

  /// Whether both show the same part of the picture, as far as the feed tells.
  fileprivate func hasShape(of other: ImageVariant) -> Bool {
    guard let width, let height, let otherWidth = other.width, let otherHeight = other.height,
      height > 0, otherHeight > 0
    else { return true }
    let (shape, otherShape) = (Double(width) / Double(height), Double(otherWidth) / Double(otherHeight))
    return abs(shape - otherShape) <= 0.05 * otherShape
  }
}
