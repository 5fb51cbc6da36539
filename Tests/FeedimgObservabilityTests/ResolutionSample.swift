import Feedimg

/// A decision, as a loader makes it.
enum ResolutionSample {
  /// The decision of a loader without any network.
  static func resolution() throws -> Resolution {
    var configuration = ImageLoader.Configuration(environment: ["HOME": "/nonexistent"])
    configuration.overrides = [SituationOverride(fact: "network", value: "offline", source: "the test")]
    let url = try ImageURL("https://pictures.example/a.jpg")
    let item = FeedItem(original: ImageVariant(role: .original, url: url), thumbnail: nil)
    return try ImageLoader(configuration).resolve(item)
  }
}
