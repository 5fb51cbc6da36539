public import FeedimgModel
import FeedimgPolicy

/// What became of asking about an image that was shown from the cache and may have been out of date.
public enum Revalidation: Sendable, Hashable {
  /// Nobody asks: the image is fresh, the network or the policy does not allow it, or it was asked about just before.
  case none
  /// Its server still has the same image.
  case unchanged
  /// There is a new version, which now takes the place of the old one in memory and on disk.
  case changed(LoadedImage)
  /// No answer told; what is cached stays, and is shown on.
  case failed(LoadError)
}

extension ImageLoader {
  /// Waits for the end of the revalidation that showing an image has started.
  ///
  /// For who shows the image for longer: on ``Revalidation/changed(_:)``, show the new version in its place. May be
  /// called at any time after the load, also when the answer has come already.
  ///
  /// - Parameter image: As ``load(_:pixels:facts:priority:progress:)`` returned it.
  /// - Returns: At once where nobody asks; `failed` with `cancelled` when the calling task is cancelled.
  public func revalidation(of image: LoadedImage) async -> Revalidation {
    guard let key = image.revalidation else { return .none }
    let outcome = await revalidations.outcome(for: key)
    switch outcome {
    case .failure(let error): return .failed(error)
    case .success(nil): return .unchanged
    case .success(let new?): return .changed(renewed(image, by: new))
    case nil where Task.isCancelled:
      return .failed(LoadError(.cancelled, url: image.variant.url, message: "cancelled"))
    case nil:
      // It ended before we asked: then what is remembered and what is cached tell.
      if let error = revalidations.failure(of: key) { return .failed(error) }
      guard let new = cached(image.variant), new.bytes != image.bytes else { return .unchanged }
      return .changed(renewed(image, by: new))
    }
  }

  /// Waits until no image is asked about any more, for programs that end.
  ///
  /// - Parameter limit: What takes longer is given up.
  /// - Returns: What came of it since the last call.
  public func finishRevalidations(within limit: Duration) async -> RevalidationSummary {
    let alarm = Task {
      try? await Task.sleep(for: limit)
      if !Task.isCancelled { revalidations.stop() }
    }
    await revalidations.idle()
    alarm.cancel()
    return revalidations.takeSummary()
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
    if let failure = image.failure { image.standIn(for: failure) }
    return image
  }
}
