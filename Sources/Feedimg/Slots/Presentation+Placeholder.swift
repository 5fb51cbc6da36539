import FeedimgModel
import FeedimgPipeline

extension Presentation {
  /// The same with the placeholder as pixels.
  func drawingPlaceholder(_ request: DecodeRequest) -> Presentation {
    var presentation = self
    presentation.placeholderBitmap = item.placeholder.bitmap(aspect: aspect(request), format: request.format)
    return presentation
  }

  /// Width by height of what the placeholder stands for: as the feed says of the image, else of the place that it has.
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
