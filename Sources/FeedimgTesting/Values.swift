public import Feedimg
public import FeedimgModel

extension Resolution {
  /// Makes a decision for tests of views.
  ///
  /// - Parameters:
  ///   - item: The item of the decision.
  ///   - image: The image that the policy chose.
  ///   - network: The network of the decision.
  /// - Returns: A decision whose chosen image is cached.
  public static func fake(
    _ item: FeedItem,
    image: ShownImage = .original,
    network: NetworkKind = .wifi
  ) -> Resolution {
    func presence(_ role: ImageVariant.Role) -> Presence {
      item[role] == nil ? .none : image.role == role ? .cached : .remote
    }
    let situation = Situation(
      network: network,
      original: presence(.original),
      thumbnail: presence(.thumbnail)
    )
    let ceiling: Ceiling =
      switch image {
      case .original: .original
      case .thumbnail: .thumbnail
      case .placeholder: .placeholder
      }
    return Resolution(
      item: item,
      situation: situation,
      decision: Decision(ceiling: ceiling, in: situation, rule: 1),
      policy: "test",
      place: "test.md:1",
      why: "the test says so",
      facts: []
    )
  }
}

extension LoadedImage {
  /// Makes a loaded image for tests of views.
  ///
  /// - Parameters:
  ///   - bytes: The encoded image.
  ///   - item: The item, which has a variant of the role.
  ///   - role: The loaded variant.
  ///   - source: The source of the bytes.
  ///   - bitmap: The decoded pixels.
  /// - Returns: Nil if the item has no such variant.
  public static func fake(
    _ bytes: [UInt8],
    of item: FeedItem,
    role: ImageVariant.Role = .original,
    source: Source = .memory,
    bitmap: Bitmap? = nil
  ) -> LoadedImage? {
    guard let variant = item[role] else { return nil }
    let prefix = Array(bytes.prefix(ImageFormat.prefixLength))
    var image = LoadedImage(
      variant: variant,
      source: source,
      resolution: .fake(item, image: ShownImage(role)),
      bytes: bytes,
      mediaType: ImageFormat.sniff(prefix, declared: nil) ?? "application/octet-stream",
      path: nil
    )
    image.bitmap = bitmap
    return image
  }
}

extension Presentation {
  /// Makes a presentation for tests of views.
  ///
  /// - Parameters:
  ///   - item: The bound item.
  ///   - image: The shown image; nil for the placeholder.
  ///   - isLoading: Whether a better image is loading.
  ///   - progress: The progress of the next image.
  ///   - error: Why the chosen image could not be loaded.
  /// - Returns: The presentation.
  public static func fake(
    _ item: FeedItem,
    image: LoadedImage? = nil,
    isLoading: Bool = false,
    progress: LoadProgress? = nil,
    error: LoadError? = nil
  ) -> Presentation {
    var presentation = Presentation(item: item)
    if let image { presentation.content = .image(image) }
    presentation.resolution = image?.resolution ?? .fake(item, image: .placeholder)
    (presentation.isLoading, presentation.progress, presentation.error) = (isLoading, progress, error)
    return presentation
  }
}

extension LoadError {
  /// Makes an error for tests of views.
  ///
  /// - Parameters:
  ///   - code: The kind of failure.
  ///   - url: The requested URL.
  ///   - message: One line.
  /// - Returns: The error.
  public static func fake(
    _ code: Code,
    url: ImageURL? = nil,
    message: String = "the test says so"
  ) -> LoadError {
    LoadError(code, url: url, message: message)
  }
}
