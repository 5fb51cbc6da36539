public import FeedimgModel

/// The results of asking servers about images that may have been out of date.
public struct RevalidationSummary: Sendable, Hashable {
  /// So many are still the same.
  public internal(set) var unchanged = 0
  /// The URLs of those that have a new version, as the cache compares them; the first hundred.
  public internal(set) var changed: [String] = []
  /// Why others could not be asked about, so that they are kept as they are; the first hundred.
  public internal(set) var failures: [LoadError] = []
  /// So many were given up before there was an answer.
  public internal(set) var unfinished = 0

  private static let greatestList = 100

  mutating func count(_ outcome: Result<FetchedImage?, LoadError>, of url: ImageURL) {
    switch outcome {
    case .success(nil): unchanged += 1
    case .success:
      if changed.count < Self.greatestList { changed.append(ImageURL.withoutCredentials(url.key)) }
    case .failure(let error) where error.code == .cancelled: unfinished += 1
    case .failure(let error): if failures.count < Self.greatestList { failures.append(error) }
    }
  }
}
