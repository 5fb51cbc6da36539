import FeedimgHTTPCache
import FeedimgModel
import FeedimgPipeline

extension ImageLoader {
  /// Returns the presentation of an item that is available without waiting.
  ///
  /// - Returns: The image or thumbnail if the policy chooses it and memory holds it; otherwise the
  ///   placeholder.
  func firstPresentation(
    of item: FeedItem,
    _ pixels: DecodeRequest?,
    _ facts: [String: String]
  ) -> Presentation {
    let first = firstImage(of: item, pixels, facts)
    guard let pixels, first.image == nil else { return first }
    return first.drawingPlaceholder(pixels)
  }

  private func firstImage(
    of item: FeedItem,
    _ pixels: DecodeRequest?,
    _ facts: [String: String]
  ) -> Presentation {
    var first = Presentation(item: item, pixels, facts: facts)
    let inMemory = [item.original, item.thumbnail].compactMap { $0 }.filter {
      resources.storage.memory[identity.key(of: $0.url)] != nil
    }
    guard !inMemory.isEmpty else { return first }
    let load = ImageLoad(loader: self, item: item, facts: facts)
    let resolution = load.resolution()
    let decision = resolution.decision
    let role = decision.load == nil ? decision.image.role : decision.show.role
    guard let variant = inMemory.first(where: { $0.role == role }),
      let kept = resources.storage.memory[identity.key(of: variant.url)]
    else { return first }
    var image = load.loaded(FetchedImage(kept, from: .memory), variant, resolution)
    if let request = pixels {
      guard let bitmap = resources.pixels?.kept(of: variant.url, request) else { return first }
      (image.bitmap, image.request) = (bitmap, request)
    }
    first.resolution = resolution
    first.content = .image(image)
    first.isLoading = decision.load != nil
    return first
  }
}
