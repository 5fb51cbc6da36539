public import FeedimgModel
import FeedimgPipeline

/// Everything that a view shows at one moment.
///
/// Each presentation is complete, so a view may skip some of them.
public struct Presentation: Sendable, Hashable {
  /// The picture to draw.
  public indirect enum Content: Sendable, Hashable {
    /// No image yet, or none at all: the colour, BlurHash or ThumbHash of the item, if it has one.
    case placeholder(Placeholder)
    /// A complete image.
    case image(LoadedImage)
  }

  /// The bound item.
  public var item: FeedItem
  /// The picture to draw; never worse than before for the same binding.
  public var content: Content
  /// The part of a better image received so far, if it already looks better than the content.
  ///
  /// It comes from a progressive JPEG or an interlaced PNG, if the slot is visible and requests pixels. It
  /// stays until an equally sharp image is available, even if the transfer fails.
  public var scan: ImageScan?
  /// The latest decision and its reasons; nil before the first decision.
  public var resolution: Resolution? {
    get { boxedResolution?.value }
    set { boxedResolution = newValue.map(Boxed.init) }
  }
  /// The progress of the next image; nil if none is loading, or before its first byte.
  public var progress: LoadProgress?
  /// Whether a better image is loading.
  public var isLoading: Bool
  /// Why the chosen image could not be loaded; the best available image is shown instead.
  public var error: LoadError? {
    get { boxedError?.value }
    set { boxedError = newValue.map(Boxed.init) }
  }
  /// The placeholder as pixels, if requested and available.
  var placeholderBitmap: Bitmap?
  /// The requested pixels; nil for none.
  var request: DecodeRequest?
  /// See ``ImageLoader/resolve(_:facts:)``.
  var facts: [String: String] = [:]

  private var boxedResolution: Boxed<Resolution>?
  private var boxedError: Boxed<LoadError>?

  package init(item: FeedItem, _ request: DecodeRequest? = nil, facts: [String: String] = [:]) {
    (self.item, self.request, self.facts) = (item, request, facts)
    content = .placeholder(item.placeholder)
    isLoading = true
  }

  /// The image; nil for a placeholder.
  public var image: LoadedImage? { if case .image(let image) = content { image } else { nil } }

  /// The pixels to draw if the slot requests them: of the scan, else of the image, else of the placeholder.
  ///
  /// A placeholder has few pixels, to stretch over the place of the image. Nil without any.
  public var pixels: Bitmap? { scan?.bitmap ?? image.map(\.bitmap) ?? placeholderBitmap }

  /// The kind of picture that the content is.
  public var shown: ShownImage { image.map { ShownImage($0.variant.role) } ?? .placeholder }
}

extension ImageScan {
  /// Returns whether the scan looks better than the content.
  ///
  /// Every pixel of a complete image is correct. A scan is compared by the pixels that are correct. So an
  /// early scan of a large original may be better than a small thumbnail, while that of a small original is
  /// not. If they are equal, the complete image stays.
  func isSharper(than content: Presentation.Content) -> Bool {
    guard case .image(let image) = content else { return true }
    guard image.variant.role == .thumbnail, variant.role == .original, let bitmap = image.bitmap else {
      return false
    }
    return detail.area > bitmap.size.area
  }
}

extension Presentation {
  /// Returns a copy with the placeholder as pixels.
  func drawingPlaceholder(_ request: DecodeRequest) -> Presentation {
    var presentation = self
    presentation.placeholderBitmap = item.placeholder.bitmap(aspect: aspect(request), format: request.format)
    return presentation
  }

  /// The width divided by the height of the place: as the feed states for the image, else as requested.
  ///
  /// Nil if both are unknown.
  private func aspect(_ request: DecodeRequest) -> Double? {
    let sizes = [item.original, item.thumbnail].compactMap { variant in
      variant?.width.flatMap { width in variant?.height.map { PixelSize(width: width, height: $0) } }
    }
    let view = request.size.flatMap { $0.hasShape ? $0.pixels : nil }
    guard let size = sizes.first(where: { $0.width > 0 && $0.height > 0 }) ?? view else { return nil }
    return Double(size.width) / Double(size.height)
  }
}

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
  func canContinue(as next: Presentation) -> Bool {
    (item.original, item.thumbnail) == (next.item.original, next.item.thumbnail)
      && facts == next.facts && isDrawn(as: next) && (isLoading || image != nil && error == nil)
  }

  /// Returns a copy with the image shown before, if that is better and of the same URL.
  ///
  /// The image may have another size. With other facts, nothing is kept, because those may forbid it.
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
