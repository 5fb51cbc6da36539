public import FeedimgModel

/// The results of several revalidations.
public struct RevalidationSummary: Sendable, Hashable {
  /// The number of images that have not changed.
  public internal(set) var unchanged = 0
  /// The URLs of the first hundred images that have changed, in the form in which the cache compares them.
  public internal(set) var changed: [String] = []
  /// The first hundred failures; these images stay cached.
  public internal(set) var failures: [LoadError] = []
  /// The number of revalidations that were cancelled.
  public internal(set) var unfinished = 0

  private static let maximumList = 100

  mutating func count(_ outcome: Result<FetchedImage?, LoadError>, of url: ImageURL) {
    switch outcome {
    case .success(nil): unchanged += 1
    case .success:
      if changed.count < Self.maximumList { changed.append(ImageURL.withoutCredentials(url.key)) }
    case .failure(let error) where error.code == .cancelled: unfinished += 1
    case .failure(let error): if failures.count < Self.maximumList { failures.append(error) }
    }
  }
}
