import FeedimgModel

/// The rule of the default policy, written by hand for the tests.
///
/// > a cached original is shown on any network; else Wi-Fi loads the original; else cellular loads the
/// > original if the user's setting says so, otherwise the thumbnail; else (offline) the cached thumbnail,
/// > otherwise the placeholder.
enum DefaultRule {
  /// The image shown meanwhile, and the load.
  struct Outcome: Equatable {
    var show: ShownImage
    var load: ImageVariant.Role?
  }

  static func outcome(_ situation: Situation) -> Outcome {
    if situation.original == .cached { return Outcome(show: .original, load: nil) }
    switch situation.network {
    case .wifi, .ethernet:
      return loadingOriginal(situation)
    case .cellular, .other:
      return situation.alwaysOriginal ? loadingOriginal(situation) : loadingThumbnail(situation)
    case .offline:
      return Outcome(show: situation.thumbnail == .cached ? .thumbnail : .placeholder, load: nil)
    }
  }

  private static func loadingOriginal(_ situation: Situation) -> Outcome {
    // A feed without an original offers its thumbnail instead.
    guard situation.original == .remote else { return loadingThumbnail(situation) }
    return Outcome(show: situation.thumbnail == .cached ? .thumbnail : .placeholder, load: .original)
  }

  private static func loadingThumbnail(_ situation: Situation) -> Outcome {
    switch situation.thumbnail {
    case .cached: Outcome(show: .thumbnail, load: nil)
    case .remote: Outcome(show: .placeholder, load: .thumbnail)
    case .none: Outcome(show: .placeholder, load: nil)
    }
  }
}
