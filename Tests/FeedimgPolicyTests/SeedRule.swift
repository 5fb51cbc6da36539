import FeedimgModel

/// The rule that the default policy must say and nothing else, written out by hand for the tests.
///
/// > a cached original is shown whatever the network; else Wi-Fi loads the original; else cellular loads the
/// > original if the user's setting says so, otherwise the thumbnail; else (offline) the cached thumbnail,
/// > otherwise the placeholder.
enum SeedRule {
  /// What the rule comes to: shown meanwhile, and loaded.
  struct Answer: Equatable {
    var show: ShownImage
    var load: ImageVariant.Role?
  }

  static func answer(_ situation: Situation) -> Answer {
    if situation.original == .cached { return Answer(show: .original, load: nil) }
    switch situation.network {
    case .wifi, .ethernet:
      return loadingOriginal(situation)
    case .cellular, .other:
      return situation.alwaysOriginal ? loadingOriginal(situation) : loadingThumbnail(situation)
    case .offline:
      return Answer(show: situation.thumbnail == .cached ? .thumbnail : .placeholder, load: nil)
    }
  }

  private static func loadingOriginal(_ situation: Situation) -> Answer {
    // A feed without an original offers its thumbnail instead.
    guard situation.original == .remote else { return loadingThumbnail(situation) }
    return Answer(show: situation.thumbnail == .cached ? .thumbnail : .placeholder, load: .original)
  }

  private static func loadingThumbnail(_ situation: Situation) -> Answer {
    switch situation.thumbnail {
    case .cached: Answer(show: .thumbnail, load: nil)
    case .remote: Answer(show: .placeholder, load: .thumbnail)
    case .none: Answer(show: .placeholder, load: nil)
    }
  }
}
