public import FeedimgModel
import FeedimgPolicy

/// What came of asking the server about an image that was shown from the cache and may have been out of date.
public enum Revalidation: Sendable, Hashable {
  /// The server is not asked: the image is fresh, the network or the policy does not allow it, or it was asked just before.
  case none
  /// The server still has the same image.
  case unchanged
  /// There is a new version, which replaces the old one in memory and on disk.
  case changed(LoadedImage)
  /// The server did not say; the cached image stays.
  case failed(LoadError)
}

extension ImageLoader {
  /// Waits for the end of the revalidation that showing an image has started.
  ///
  /// For views that show the image for longer: on ``Revalidation/changed(_:)``, show the new version in its place. May be
  /// called at any time after the load, also after the end.
  ///
  /// - Parameter image: As ``load(_:pixels:facts:priority:progress:)`` returned it.
  /// - Returns: At once where the server is not asked; `failed` with `cancelled` when the calling task is cancelled.
  public func revalidation(of image: LoadedImage) async -> Revalidation {
    await outcome(ofRevalidating: image)
  }

  @PipelineActor private func outcome(ofRevalidating image: LoadedImage) async -> Revalidation {
    guard let key = image.revalidation else { return .none }
    switch await revalidator.running(key) {
    case .failed(let error) where error.code != .cancelled: return .failed(error)
    case .answered(nil, _): return .unchanged
    case .answered(let new?, _): return .changed(renewed(image, by: new))
    case _ where Task.isCancelled:
      return .failed(LoadError(.cancelled, url: image.variant.url, message: "cancelled"))
    case .failed, .released, nil:
      // It ended before the call: what is remembered and what is cached tell.
      if let error = revalidator.failure(of: key) { return .failed(error) }
      guard let new = await cached(image.variant), new.bytes != image.bytes else { return .unchanged }
      return .changed(renewed(image, by: new))
    }
  }

  /// Waits until no server is asked about an image any more, for programs that end.
  ///
  /// - Parameter limit: What takes longer is given up.
  /// - Returns: The results since the last call.
  public func finishRevalidations(within limit: Duration) async -> RevalidationSummary {
    await finished(within: limit)
  }

  @PipelineActor private func finished(within limit: Duration) async -> RevalidationSummary {
    let alarm = Task { @PipelineActor in
      try? await Task.sleep(for: limit)
      if !Task.isCancelled { revalidator.stop() }
    }
    await revalidator.idle()
    alarm.cancel()
    return revalidator.takeSummary()
  }

  /// Whether the policy would fetch a variant now, if it were not cached.
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
    (image.freshness, image.revalidation) = (new.freshness(at: clock()), nil)
    image.notes = new.notes
    if let failure = image.failure { image.replaceOriginal(after: failure) }
    return image
  }

  /// Loads the image of an item as ``load(_:pixels:facts:priority:progress:)`` does, but asks the server about a cached
  /// image first.
  ///
  /// Caches on the way are asked to do the same (`Cache-Control: no-cache`). Where the network or the policy does not
  /// allow the request, or the server does not respond, the cached image is returned with a note that says so.
  ///
  /// - Parameters:
  ///   - item: What to load.
  ///   - facts: See ``resolve(_:facts:)->Resolution``.
  ///   - progress: Called on a thread of its own as bytes of an image that is not cached arrive.
  /// - Returns: The image with its bytes, its source and the decision that led to it.
  /// - Throws: ``LoadError``; `nothingToShow` where the placeholder is all there is.
  public func reload(
    _ item: FeedItem,
    facts: [String: String] = [:],
    progress: (@Sendable (LoadProgress) -> Void)? = nil
  ) async throws(LoadError) -> LoadedImage {
    var load = ImageLoad(loader: self, item: item, facts: facts)
    (load.isReload, load.progress) = (true, progress)
    return try await load.run()
  }
}
