public import FeedimgModel
import FeedimgPipeline

/// All that a view has to show at one moment: each presentation stands for itself, and one may follow another unseen.
public struct Presentation: Sendable, Hashable {
  /// What to draw.
  public enum Content: Sendable, Hashable {
    /// No image yet, or none at all: the colour, BlurHash or ThumbHash of the item, if it has one.
    case placeholder(Placeholder)
    /// An image, whole.
    case image(LoadedImage)
  }

  /// What the view is bound to.
  public var item: FeedItem
  /// What to draw; never worse than before for the same binding.
  public var content: Content
  /// What has come of a better image that is on its way, where it already is better to look at than the content.
  ///
  /// Of a progressive JPEG or an interlaced PNG, where the slot is visible and was asked for pixels; stays until something as sharp is
  /// there, also when the transfer fails.
  public var scan: ImageScan?
  /// What was decided last, and why; nil while that is being looked at.
  public var resolution: Resolution?
  /// How far the image that follows has come; nil where none is on its way, or nothing of it has come.
  public var progress: LoadProgress?
  /// Whether something better is on its way.
  public var isLoading: Bool
  /// Why what was decided could not be had; what can be shown is shown nevertheless.
  public var error: LoadError?
  /// The placeholder as pixels, where those are wanted and there are any.
  var placeholderBitmap: Bitmap?
  /// What pixels are wanted; nil for none.
  var request: DecodeRequest?
  /// See ``ImageLoader/resolve(_:facts:)``.
  var facts: [String: String] = [:]

  init(item: FeedItem, _ request: DecodeRequest? = nil, facts: [String: String] = [:]) {
    (self.item, self.request, self.facts) = (item, request, facts)
    content = .placeholder(item.placeholder)
    isLoading = true
  }

  /// The image, if it is one.
  public var image: LoadedImage? { if case .image(let image) = content { image } else { nil } }

  /// What to draw, where the slot was asked for pixels: those of the scan, else of the image, else of the placeholder.
  ///
  /// Those of a placeholder are few, to be stretched over the place of the image. Nil where there are none.
  public var pixels: Bitmap? { scan?.bitmap ?? image.map(\.bitmap) ?? placeholderBitmap }

  /// Which picture the content is.
  public var shown: ShownImage { image.map { ShownImage($0.variant.role) } ?? .placeholder }
}

extension ImageScan {
  /// Whether it is better to look at than what would be drawn without it.
  ///
  /// Of a whole image each pixel is right. A scan is counted by the pixels that are right as well, so that the first
  /// scans of a large original may well be better than a small thumbnail, and those of a small one are not; where they
  /// are equal, what is whole stays.
  func isSharper(than content: Presentation.Content) -> Bool {
    guard case .image(let image) = content else { return true }
    guard image.variant.role == .thumbnail, variant.role == .original, let bitmap = image.bitmap else {
      return false
    }
    return detail.area > bitmap.size.area
  }
}
