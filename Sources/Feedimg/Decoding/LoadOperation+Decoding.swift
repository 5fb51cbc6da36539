import FeedimgModel
import FeedimgPolicy

extension LoadOperation {
  /// Adds the pixels that are asked for; an original that has none gives way as one that failed.
  func decoded(_ step: Step) async throws(LoadError) -> Step {
    guard let pixels = pixels(), case .image(var image) = step else { return step }
    guard let desk = loader.pixels else {
      image.notes.append("not decoded: the configuration of the loader has no decoder")
      return .image(image)
    }
    do throws(DecodeError) {
      let bitmap = try await desk.bitmap(image.bytes, of: image.variant.url, pixels, wish: wish)
      LoadWitness.tell(.decoded(bitmap.size))
      (image.bitmap, image.request) = (bitmap, pixels)
      return .image(image)
    } catch {
      var failure = LoadError(error, of: image.variant.url)
      failure.resolution = image.resolution
      guard failure.code != .cancelled else { throw failure }
      if let first = image.failure { throw first.telling(ofThumbnail: failure) }
      return try await decoded(fallback(from: image.variant, after: failure, image.resolution))
    }
  }
}

extension LoadError {
  /// The failure of an image that came, but has no pixels.
  fileprivate init(_ error: DecodeError, of url: ImageURL) {
    let code: Code =
      switch error.code {
      case .cancelled: .cancelled
      case .tooLarge: .tooLarge
      case .unavailable: .unavailable
      case .unknownFormat, .damaged: .notAnImage
      }
    self.init(code, url: url, message: "the image cannot be decoded: \(error.message)")
  }
}
