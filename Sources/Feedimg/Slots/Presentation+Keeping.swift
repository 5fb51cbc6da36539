import FeedimgModel
import FeedimgPipeline

extension Presentation {
  /// Whether the image, if it is one, has the very pixels that are wanted.
  var isExact: Bool { image.map { request == nil || $0.request == request } ?? true }

  /// The image that is shown where that has yet to be decoded at the size that is wanted.
  var lackingPixels: LoadedImage? {
    guard !isExact, var image else { return nil }
    image.bitmap = nil
    return image
  }

  /// Shows an image that has come, unless that is worse.
  ///
  /// Where another size is wanted by now, more is to come.
  mutating func take(_ image: LoadedImage) {
    var next = self
    next.content = .image(image)
    let isWorse = (next.shown, next.isExact ? 1 : 0) < (shown, isExact ? 1 : 0)
    if !isWorse { content = next.content }
    isLoading = !isExact && image.request != request
  }

  /// Whether it is of the same pictures as another one, so that whoever gets those need not begin anew.
  ///
  /// Only the size may differ, and what is told of the item beside its pictures. What has failed, or ended as a
  /// placeholder, may be begun anew.
  func goesOn(with next: Presentation) -> Bool {
    (item.original, item.thumbnail) == (next.item.original, next.item.thumbnail)
      && facts == next.facts && isDrawn(as: next) && (isLoading || image != nil && error == nil)
  }

  /// The same with the image that was shown before, where that is better: one of the item alone, be it of another size.
  ///
  /// - Parameter earlier: What was shown; nothing of it is kept where other facts hold, as these may forbid it.
  /// - Returns: With the image or the scan of the earlier one, where it is of the same URL and better.
  func keeping(_ earlier: Presentation) -> Presentation {
    var next = self
    guard facts == earlier.facts, isDrawn(as: earlier) else { return next }
    if earlier.shown > shown, var image = earlier.image, let variant = kept(image.variant) {
      image.variant = variant
      image.resolution.item = item
      (next.content, next.resolution) = (.image(image), resolution ?? image.resolution)
    }
    if var scan = earlier.scan, let variant = kept(scan.variant) {
      scan.variant = variant
      if scan.isSharper(than: next.content) { next.scan = scan }
    }
    return next
  }

  private func kept(_ variant: ImageVariant) -> ImageVariant? {
    item[variant.role].flatMap { $0.url.key == variant.url.key ? $0 : nil }
  }

  /// Whether who draws the one can draw the other: the size alone is for the view to make up for.
  private func isDrawn(as other: Presentation) -> Bool {
    guard let request, let wanted = other.request else { return request == other.request }
    return (request.format, request.damage) == (wanted.format, wanted.damage)
      && (request.size?.fitting ?? .fit) == (wanted.size?.fitting ?? .fit)
  }
}
