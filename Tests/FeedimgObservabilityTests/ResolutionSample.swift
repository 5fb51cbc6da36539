import Feedimg

/// A decision, as a loader makes it.
enum ResolutionSample {
  /// The decision of a loader on a network, or without any.
  static func resolution(on network: String = "offline") throws -> Resolution {
    var configuration = ImageLoader.Configuration(environment: ["HOME": "/nonexistent"])
    configuration.overrides = [SituationOverride(fact: "network", value: network, source: "the test")]
    return try ImageLoader(configuration).resolve(item())
  }

  /// An item with both images.
  static func item() throws -> FeedItem {
    FeedItem(
      original: ImageVariant(role: .original, url: try ImageURL("https://pictures.example/a.jpg")),
      thumbnail: ImageVariant(role: .thumbnail, url: try ImageURL("https://pictures.example/s.jpg"))
    )
  }
}
