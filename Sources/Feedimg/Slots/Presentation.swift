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
  public var item: FeedItem {
    get { boxedItem.value }
    set { boxedItem.value = newValue }
  }
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

  private var boxedItem: Boxed<FeedItem>
  private var boxedResolution: Boxed<Resolution>?
  private var boxedError: Boxed<LoadError>?

  package init(item: FeedItem, _ request: DecodeRequest? = nil, facts: [String: String] = [:]) {
    (boxedItem, self.request, self.facts) = (Boxed(item), request, facts)
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
