import FeedimgModel
import FeedimgPipeline

extension Presentation {
  /// Returns a copy with the placeholder as pixels.
  func drawingPlaceholder(_ request: DecodeRequest) -> Presentation {
    var presentation = self
    presentation.placeholderBitmap = item.placeholder.bitmap(aspect: aspect(request), format: request.format)
    return presentation
  }

  /// The width divided by the height of the place: as the feed states for the image, else as requested.
  private func aspect(_ request: DecodeRequest) -> Double? {
    let sizes = [item.original, item.thumbnail].compactMap { variant in
      variant?.width.flatMap { width in variant?.height.map { PixelSize(width: width, height: $0) } }
    }
    guard let size = sizes.first(where: { $0.width > 0 && $0.height > 0 }) ?? request.size?.pixels else {
      return nil
    }
    return Double(size.width) / Double(size.height)
  }
}
