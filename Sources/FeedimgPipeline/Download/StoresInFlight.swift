import FeedimgModel
import FeedimgSystem

/// The images that callers have and that are still being stored, by key.
@PipelineActor final class StoresInFlight {
  private var promises: [String: Promise<FetchedImage>] = [:]

  nonisolated init() {}

  /// The store that runs for a key; nil if none does.
  subscript(key: String) -> Promise<FetchedImage>? { promises[key] }

  /// Starts to store an image; no cancellation stops it.
  ///
  /// - Returns: A promise of the image with its file.
  func begin(
    _ key: String,
    _ store: @escaping @PipelineActor @Sendable () async -> FetchedImage
  ) -> Promise<FetchedImage> {
    let promise = Promise<FetchedImage>()
    promises[key] = promise
    PipelineActor.task { [self] in
      promise.resolve(await store())
      if promises[key] === promise { promises[key] = nil }
    }
    return promise
  }
}
