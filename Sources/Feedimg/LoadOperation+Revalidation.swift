import FeedimgCache
import FeedimgModel

extension LoadOperation {
  /// What is cached is shown at once; freshness decides only whether showing it also starts a revalidation.
  ///
  /// It is asked about first where the user wants that, and where it was chosen for another program (``Asking``); if
  /// that fails, it is shown nevertheless.
  ///
  /// - Parameters:
  ///   - found: What is cached.
  ///   - variant: What that is.
  ///   - resolution: What was decided.
  ///   - isStandIn: Whether it is shown in place of an original that failed.
  /// - Returns: Nil where something else has been decided meanwhile.
  /// - Throws: `cancelled` alone.
  func revalidated(
    _ found: FetchedImage,
    _ variant: ImageVariant,
    _ resolution: Resolution,
    isStandIn: Bool = false
  ) async throws(LoadError) -> FetchedImage? {
    guard found.source != .network, let answer = found.answer else { return found }
    let identity = loader.identity.asking(in: resolution.situation)
    let asking = isReload ? .first : Asking(about: answer, by: identity, at: loader.clock())
    guard asking != .nothing else { return found }
    guard loader.mayFetch(variant.role, in: resolution.situation) else {
      let network = resolution.situation.network.rawValue
      return isReload ? noting("not asked about, as it would not be fetched now (\(network))", found) : found
    }
    if loader.askAboutCost() {
      let present = self.resolution()
      guard present.decision.image == resolution.decision.image else { return nil }
      return try await revalidated(found, variant, present, isStandIn: isStandIn)
    }
    let revalidation = ImageRevalidation(
      loader: loader,
      variant: variant,
      identity: identity,
      shown: found,
      isEndToEnd: isReload,
      vigil: DecisionVigil(over: self, asking: variant.role)
    )
    if asking == .first, isReload || !loader.revalidations.isResting(revalidation.key) {
      let vigil =
        isStandIn
        ? DecisionVigil(overStandIn: self) : DecisionVigil(over: self, decided: resolution.decision.image)
      return try await asked(revalidation, under: vigil)
    }
    var found = found
    if loader.revalidations.begin(revalidation) { found.revalidation = revalidation.key }
    return found
  }

  private func asked(
    _ revalidation: ImageRevalidation,
    under vigil: DecisionVigil
  ) async throws(LoadError) -> FetchedImage? {
    do throws(LoadError) {
      let outcome = try await vigil.whileItHolds { () async throws(LoadError) in
        try await loader.revalidations.answer(to: revalidation, wish: wish)
      }
      guard let new = outcome else { return nil }
      return new ?? loader.cached(revalidation.variant) ?? revalidation.shown
    } catch {
      // What was ended because the network has become dearer, or has gone, was not cancelled by who waits.
      guard error.code != .cancelled || !Task.isCancelled else { throw error }
      return noting("shown as it was: \(error.message)", revalidation.shown)
    }
  }

  private func noting(_ note: String, _ image: FetchedImage) -> FetchedImage {
    var image = image
    image.notes.append(note)
    return image
  }
}

extension ImageLoader {
  /// Loads the image of an item as ``load(_:pixels:facts:priority:progress:)`` does, but asks the server about what is cached first.
  ///
  /// Caches on the way are asked to do the same (`Cache-Control: no-cache`). Where the network or the policy does not
  /// allow to ask, or nobody answers, the cached image is returned with a note that says so.
  ///
  /// - Parameters:
  ///   - item: What to load.
  ///   - facts: See ``resolve(_:facts:)``.
  ///   - progress: Called on a thread of its own as bytes of an image that is not cached arrive.
  /// - Returns: The image with its bytes, its source and the decision that led to it.
  /// - Throws: ``LoadError``; `nothingToShow` where the placeholder is all there is.
  public func reload(
    _ item: FeedItem,
    facts: [String: String] = [:],
    progress: (@Sendable (LoadProgress) -> Void)? = nil
  ) async throws(LoadError) -> LoadedImage {
    try await perform(
      LoadOperation(loader: self, item: item, facts: facts, progress: progress, isReload: true)
    )
  }
}
