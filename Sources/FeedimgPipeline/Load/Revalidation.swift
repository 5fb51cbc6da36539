public import FeedimgModel
import FeedimgPolicy
import FeedimgSystem

/// The result of asking the server about a cached image that may have been out of date.
public enum Revalidation: Sendable, Hashable {
  /// The server is not asked: the image is fresh, the request is not allowed, or an earlier one has just
  /// ended.
  case none
  /// The server still has the same image.
  case unchanged
  /// The server has a new version, which replaces the old one in memory and on disk.
  case changed(LoadedImage)
  /// The request failed; the cached image stays.
  case failed(LoadError)
}

extension ImageLoader {
  /// Waits for the end of the revalidation that started when a load returned a cached image.
  ///
  /// Call it for views that show the image for some time. On ``Revalidation/changed(_:)``, show the new
  /// version in place of the old one. You may call it at any time after the load.
  ///
  /// - Parameter image: An image that ``load(_:pixels:facts:priority:cache:policy:progress:)`` returned.
  /// - Returns: The result; immediately if the server is not asked. It is `failed` with `cancelled` when the
  ///   calling task is cancelled.
  public func revalidation(of image: LoadedImage) async -> Revalidation {
    await outcome(ofRevalidating: image)
  }

  @PipelineActor private func outcome(ofRevalidating image: LoadedImage) async -> Revalidation {
    guard let key = image.revalidation else { return .none }
    switch await resources.loads.revalidator.running(key) {
    case .failed(let error) where error.code != .cancelled: return .failed(error)
    case .finished(nil, _): return .unchanged
    case .finished(let new?, _): return .changed(renewed(image, by: new))
    case _ where Task.isCancelled:
      return .failed(LoadError(.cancelled, url: image.variant.url, message: "cancelled"))
    case .failed, .released, nil:
      // It ended before the call: take the result from the failure record and the cache.
      if let error = resources.transport.retries.failure(ofRevalidation: key) { return .failed(error) }
      guard let new = await cached(image.variant), new.bytes != image.bytes else { return .unchanged }
      return .changed(renewed(image, by: new))
    }
  }

  /// Waits until all revalidations have ended, for programs that are about to exit.
  ///
  /// - Parameter limit: The longest wait; unfinished revalidations are then cancelled.
  /// - Returns: The results since the last call.
  public func finishRevalidations(within limit: Duration) async -> RevalidationSummary {
    await finished(within: limit)
  }

  @PipelineActor private func finished(within limit: Duration) async -> RevalidationSummary {
    let revalidator = resources.loads.revalidator
    if await !revalidator.idle(within: limit), !Task.isCancelled {
      revalidator.stop()
      await revalidator.idle()
    }
    return revalidator.takeSummary()
  }

  /// Whether the policy would fetch a variant now if it were not cached.
  func mayFetch(_ role: ImageVariant.Role, in situation: Situation) -> Bool {
    var situation = situation
    situation[role] = .remote
    let load = policy.current().decide(situation).load
    return load == role || load == .original
  }

  private func renewed(_ image: LoadedImage, by new: FetchedImage) -> LoadedImage {
    var image = image
    image.bytes = new.bytes
    image.bitmap = nil
    image.mediaType = new.mediaType
    image.path = new.path
    image.source = new.source
    (image.freshness, image.revalidation) = (new.freshness(at: resources.clock()), nil)
    image.notes = new.notes
    if let failure = image.failure { image.replaceOriginal(after: failure) }
    return image
  }

  /// Loads the image of an item, but revalidates a cached image first.
  ///
  /// It otherwise works like ``load(_:pixels:facts:priority:cache:policy:progress:)``. The request asks caches on the way
  /// to revalidate as well (`Cache-Control: no-cache`). If the request is not allowed now or fails, the
  /// cached image is returned with a note.
  ///
  /// - Parameters:
  ///   - item: The item to load.
  ///   - facts: See ``resolve(_:facts:)->Resolution``.
  ///   - progress: Called as bytes arrive, if the image is not cached. It must return at once, because all
  ///     loads wait for it.
  /// - Returns: The image with its bytes, its source and the decision that led to it.
  /// - Throws: ``LoadError``, with `nothingToShow` if only the placeholder can be shown.
  public func reload(
    _ item: FeedItem,
    facts: [String: String] = [:],
    progress: (@Sendable (LoadProgress) -> Void)? = nil
  ) async throws(LoadError) -> LoadedImage {
    try await load(item, facts: facts, cache: .reload, progress: progress)
  }
}
