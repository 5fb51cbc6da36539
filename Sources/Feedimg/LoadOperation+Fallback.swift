import FeedimgModel
import FeedimgPolicy

/// What comes of a load whose original cannot be had.
extension LoadOperation {
  /// The thumbnail in place of an original that failed, where the policy would have it if there were no original.
  ///
  /// A cached one is taken from the cache. Another one is fetched, unless its server is the one that cannot be reached.
  ///
  /// - Throws: The failure of the original, which also tells that of the thumbnail; `cancelled` on its own.
  func fallback(
    from original: ImageVariant,
    after failure: LoadError,
    _ resolution: Resolution
  ) async throws(LoadError) -> Step {
    guard failure.code != .cancelled, original.role == .original, let thumbnail = item.thumbnail else {
      throw failure
    }
    guard !Task.isCancelled else {
      throw LoadError(.cancelled, url: original.url, message: "the load was cancelled")
    }
    // What others read already gives way to nothing.
    guard !isHandedOn() else { throw failure }
    let instead = withoutOriginal()
    let isDown = failure.isOfTheWay && thumbnail.url.origin == failure.origin ?? original.url.origin
    let isToFetch = instead.decision.load != nil
    guard instead.decision.image == .thumbnail, !isToFetch || !isDown && allowsStandIn(instead) else {
      throw failure
    }
    do throws(LoadError) {
      guard !isToFetch else {
        guard let found = try await fetched(thumbnail, resolution, standingInFor: failure) else {
          return .outdated
        }
        return .image(standIn(found, thumbnail, for: failure, resolution))
      }
      guard let found = loader.cached(thumbnail) else { return .missing }
      let image =
        isDown ? found : try await revalidated(found, thumbnail, resolution, isStandIn: true)
      guard let image else { return .outdated }
      return .image(standIn(image, thumbnail, for: failure, resolution))
    } catch {
      throw error.code == .cancelled ? error : failure.telling(ofThumbnail: error)
    }
  }

  /// What is decided now of the item as if it had no original.
  ///
  /// - Parameter trustingNetwork: See ``ImageLoader/resolve(_:trustingNetwork:_:)``.
  /// - Returns: With the words for what is decided of the item as it is.
  func withoutOriginal(trustingNetwork: Bool = false) -> Resolution {
    var resolution = resolution(trustingNetwork: trustingNetwork)
    resolution.situation[.original] = Presence.none
    let (situation, rule) = (resolution.situation, resolution.decision.rule)
    // Who wants the original at any price wants the thumbnail as well.
    resolution.decision =
      wish.asksForOriginal
      ? Decision(ceiling: .original, in: situation, rule: rule) : loader.policy.current().decide(situation)
    return resolution
  }

  private func standIn(
    _ fetched: FetchedImage,
    _ thumbnail: ImageVariant,
    for failure: LoadError,
    _ resolution: Resolution
  ) -> LoadedImage {
    var image = image(fetched, thumbnail, resolution)
    image.standIn(for: failure)
    return image
  }
}

extension LoadedImage {
  /// Says that it is shown in place of an original that failed.
  mutating func standIn(for failure: LoadError) {
    self.failure = failure
    notes.append(failure.standInNote)
  }
}

extension LoadError {
  /// What a thumbnail is shown with in place of an original that failed so.
  var standInNote: String { "shown in place of the original: \(message)" }

  /// Whether asking again soon would not help.
  var isFinal: Bool {
    switch code {
    case .status: status.map { [401, 403, 404, 410, 451].contains($0) } ?? false
    case .notAnImage, .tooLarge, .tooManyRedirects, .forbiddenRedirect, .forbiddenAddress: true
    default: false
    }
  }

  /// Whether the server of the image cannot be reached, or not safely, whatever it is asked for.
  fileprivate var isOfTheWay: Bool {
    switch code {
    case .unknownHost, .connection, .timeout, .security: !isOfOldPath
    default: false
    }
  }

  /// The failure of an original whose thumbnail could not be had either.
  func telling(ofThumbnail other: LoadError) -> LoadError {
    var error = self
    error.message += "; the thumbnail failed as well: \(other.message)"
    error.ofThumbnail = [other]
    return error
  }
}
