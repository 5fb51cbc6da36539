import FeedimgCache
import FeedimgModel

/// One load, from the decision to the image.
struct LoadOperation: Sendable {
  let loader: ImageLoader
  let item: FeedItem
  let facts: [String: String]
  let progress: (@Sendable (LoadProgress) -> Void)?

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
      return cached(variant).map { image($0, variant, resolution) }
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
      var image = image(try await fetched(thumbnail), thumbnail, resolution)
      image.notes.append("shown in place of the original: \(failure.message)")
      return image
    } catch {
      guard error.code != .cancelled else { throw error }
      var failure = failure
      failure.message += "; the thumbnail failed as well: \(error.message)"
      throw failure
    }
  }

  // MARK: Where bytes come from, nearest first

  private func cached(_ variant: ImageVariant) -> FetchedImage? {
    let key = variant.url.key
    if let image = loader.memory[key] {
      // Else the disk would think that what is shown most is used least.
      loader.store.noteUse(of: key)
      return FetchedImage(image, from: .memory)
    }
    guard let (stored, bytes) = loader.store.read(key) else { return nil }
    let image = MemoryCache.Image(
      role: stored.role,
      mediaType: stored.mediaType,
      bytes: bytes,
      path: stored.path
    )
    loader.memory.insert(image, for: key)
    return FetchedImage(image, from: .disk)
  }

  private func fetched(_ variant: ImageVariant) async throws(LoadError) -> FetchedImage {
    let share = try await loader.desk.answer(for: variant.url.key) {
      // Another load of the same key may have ended since the decision was made.
      if let image = cached(variant) { return .success(image) }
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
    let settings = loader.settings.currentSettings()
    loader.follow(settings)
    let collector = BodyCollector(url: variant.url, progress: progress, makeWriter: loader.store.makeWriter)
    defer { collector.discard() }
    let request = DownloadRequest(
      url: variant.url,
      fields: Self.fields,
      bodyLimit: settings.downloadLimit,
      totalTimeout: Self.greatestDuration
    )
    let head = try await loader.downloader.download(request, into: collector)
    let mayKeep = storageAllowed(head: head)
    let image = try collector.finish(variant: variant, mayKeep: mayKeep)
    // Also where the disk could not take it: it was allowed to be kept.
    if mayKeep { loader.memory.insert(image.kept(as: variant.role), for: variant.url.key) }
    return image
  }

  /// A server that drips a byte now and then is given up in the end, however long the image.
  private static let greatestDuration = Duration.seconds(600)

  /// What feedimg can recognise, the smaller formats first (RFC 9110 §12.5.1).
  private static let fields = HTTPFields([
    .init(
      name: "Accept",
      value: "image/avif,image/webp,image/png,image/jpeg,image/gif,image/*;q=0.8,*/*;q=0.5"
    )
  ])

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
