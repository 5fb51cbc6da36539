import FeedimgModel

/// One load, from the decision to the image.
struct LoadOperation: Sendable {
  let loader: ImageLoader
  let item: FeedItem
  let facts: [String: String]
  let progress: (@Sendable (LoadProgress) -> Void)?
  /// Whether to ask first about what is cached.
  var isReload = false

  /// A cached image that turns out damaged when it is read changes the situation; so often it is looked at again.
  private static let attempts = 3

  func run() async throws(LoadError) -> LoadedImage {
    var resolution = loader.resolve(item, facts: facts)
    for _ in 1..<Self.attempts {
      if let image = try await follow(resolution) { return image }
      resolution = loader.resolve(item, facts: facts)
    }
    if let image = try await follow(resolution) { return image }
    throw placeholder(resolution)
  }

  /// Does what a resolution says; nil if the cache did not hold what it promised.
  private func follow(_ resolution: Resolution) async throws(LoadError) -> LoadedImage? {
    guard let role = resolution.decision.image.role, let variant = item[role] else {
      throw placeholder(resolution)
    }
    guard resolution.decision.load != nil else {
      guard let found = loader.cached(variant) else { return nil }
      return image(try await revalidated(found, variant, resolution), variant, resolution)
    }
    do throws(LoadError) {
      return image(try await fetched(variant), variant, resolution)
    } catch {
      var failure = error
      failure.resolution = resolution
      guard variant.role == .original, error.isFinal, let thumbnail = item.thumbnail else { throw failure }
      return try await fallback(thumbnail, after: failure, resolution)
    }
  }

  /// The thumbnail in place of an original that failed for good.
  ///
  /// - Throws: The failure of the original, which also tells that of the thumbnail; `cancelled` on its own.
  private func fallback(
    _ thumbnail: ImageVariant,
    after failure: LoadError,
    _ resolution: Resolution
  ) async throws(LoadError) -> LoadedImage {
    do throws(LoadError) {
      let found = try await revalidated(try await fetched(thumbnail), thumbnail, resolution)
      var image = image(found, thumbnail, resolution)
      image.notes.append("shown in place of the original: \(failure.message)")
      return image
    } catch {
      guard error.code != .cancelled else { throw error }
      var failure = failure
      failure.message += "; the thumbnail failed as well: \(error.message)"
      throw failure
    }
  }

  // MARK: What is not cached

  private func fetched(_ variant: ImageVariant) async throws(LoadError) -> FetchedImage {
    let share = try await loader.desk.answer(for: variant.url.key) {
      // Another load of the same key may have ended since the decision was made.
      if let image = loader.cached(variant) { return .success(image) }
      do throws(LoadError) {
        return .success(try await transferred(variant))
      } catch {
        return .failure(error)
      }
    }
    var image = share.answer
    // Whoever joined moved no byte: another load of this process brought them.
    if !share.isFirst { image.source = .memory }
    return image
  }

  private func transferred(_ variant: ImageVariant) async throws(LoadError) -> FetchedImage {
    let question = isReload ? ImageTransfer.endToEnd : HTTPFields()
    let transfer = ImageTransfer(loader: loader, variant: variant, question: question, progress: progress)
    guard case .image(let image) = try await transfer.run() else {
      throw LoadError(.malformed, url: variant.url, message: "the server answered a question nobody asked")
    }
    return image
  }

  // MARK: Answers

  private func image(
    _ fetched: FetchedImage,
    _ variant: ImageVariant,
    _ resolution: Resolution
  ) -> LoadedImage {
    LoadedImage(
      variant: variant,
      source: fetched.source,
      resolution: resolution,
      bytes: fetched.bytes,
      mediaType: fetched.mediaType,
      path: fetched.path,
      freshness: fetched.freshness(at: loader.clock()),
      notes: fetched.notes
    )
  }

  private func placeholder(_ resolution: Resolution) -> LoadError {
    var error = LoadError(.nothingToShow, message: "only the placeholder can be shown: \(resolution.why)")
    error.resolution = resolution
    return error
  }
}

extension LoadError {
  /// Whether asking again soon would not help.
  var isFinal: Bool {
    switch code {
    case .status: status.map { [401, 403, 404, 410, 451].contains($0) } ?? false
    case .notAnImage, .tooLarge, .tooManyRedirects, .forbiddenRedirect: true
    default: false
    }
  }
}
