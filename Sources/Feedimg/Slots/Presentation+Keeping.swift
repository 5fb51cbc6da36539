import FeedimgModel
import FeedimgPipeline

extension Presentation {
  /// Whether the content has exactly the requested pixels; true for a placeholder.
  var isExact: Bool { image.map { request == nil || $0.request == request } ?? true }

  /// The shown image, if it must still be decoded at the requested size.
  var imageToDecode: LoadedImage? {
    guard !isExact, var image else { return nil }
    image.bitmap = nil
    return image
  }

  /// Shows an image that has been loaded, unless it is worse.
  ///
  /// If another size is requested by now, the presentation keeps loading.
  mutating func take(_ image: LoadedImage) {
    var next = self
    next.content = .image(image)
    let isWorse = (next.shown, next.isExact ? 1 : 0) < (shown, isExact ? 1 : 0)
    if !isWorse { content = next.content }
    isLoading = !isExact && image.request != request
  }

  /// Returns whether both show the same pictures, so that the running load can continue.
  ///
  /// Only the size and the item's text may differ. A load that failed, or that ended as a placeholder, may
  /// start again.
  func goesOn(with next: Presentation) -> Bool {
    (item.original, item.thumbnail) == (next.item.original, next.item.thumbnail)
      && facts == next.facts && isDrawn(as: next) && (isLoading || image != nil && error == nil)
  }

  /// Returns a copy with the image shown before, if that is better and of the same item.
  ///
  /// The image may have another size.
  ///
  /// - Parameter earlier: The presentation shown before. With other facts, nothing of it is kept, because
  ///   those may forbid it.
  /// - Returns: A copy with the image or scan of the earlier presentation, if that is of the same URL and
  ///   better.
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

  /// Returns whether a view can draw both requests; it can make up only for a different size.
  private func isDrawn(as other: Presentation) -> Bool {
    guard let request, let wanted = other.request else { return request == other.request }
    return (request.format, request.damage) == (wanted.format, wanted.damage)
      && (request.size?.fitting ?? .fit) == (wanted.size?.fitting ?? .fit)
      && request.processorIdentifiers == wanted.processorIdentifiers
  }
}
