import FeedimgHTTPCache
import FeedimgModel
import FeedimgSystem

/// Downloads one image, or revalidates a stored one, and stores the result.
@PipelineActor struct ImageDownload {
  let resources: LoaderResources
  let variant: ImageVariant
  /// The key of the image in the cache.
  let key: String
  /// The fields that describe the program to the server; the store keeps those that `Vary` names.
  let identity: RequestIdentity
  /// Additional request fields, such as validators.
  var fields = HTTPFields()
  /// How the load uses memory and disk.
  var cache = CachePolicy.default
  /// Whether the caller waits for the file, so that the image is stored however slow the disk is.
  var waitsForStorage = true
  let load: InFlightLoad

  /// Asks caches on the way for a new response (RFC 9111 §5.2.1.4).
  nonisolated static let endToEnd = HTTPFields([.init(name: "Cache-Control", value: "no-cache")])

  /// Makes one attempt.
  func run(_ attempt: Attempt) async throws(LoadError) -> ValidationResult<FetchedImage> {
    let settings = resources.sources.settings.currentSettings()
    resources.follow(settings)
    let removals = resources.storage.store.removals
    resources.loads.transfers.begin(load, of: variant.url, variant)
    defer { resources.loads.transfers.end(load) }
    let incoming = IncomingResponse(purpose(settings, removals), load, of: resources)
    let (store, key) = (resources.storage.store, key)
    if cache.usesDisk, store.hasPartialDownloads,
      let partial = await resources.storage.reads.run({ store.partialDownload(of: key) })
    {
      incoming.resume(partial)
    }
    load.setScans(of: variant.url) { [weak incoming] in incoming?.scan() }
    defer {
      load.setScans(of: variant.url, nil)
      incoming.discard()
    }
    let timeouts = identity.requests.timeouts
    var request = DownloadRequest(
      url: variant.url,
      fields: HTTPFields(identity.fields.fields + fields.fields),
      bodyLimit: settings.downloadLimit,
      connectTimeout: min(timeouts.connect, attempt.timeLeft),
      responseTimeout: min(timeouts.response, attempt.timeLeft),
      stallTimeout: timeouts.stall,
      totalTimeout: timeouts.total
    )
    request.boundFields = identity.own
    let session = DownloadSession(
      resources: resources,
      request: request,
      incoming: incoming,
      load: load,
      attempt: attempt
    )
    do throws(LoadError) {
      try await session.perform()
      if let response = incoming.notModified { return .notModified(response) }
      return .new(await keep(try incoming.finish(), since: removals))
    } catch {
      guard incoming.hasBody else { throw error }
      let kept = await resources.storage.writes.run {
        incoming.interrupt(error) { store.removePartialDownload(of: key) }
      }
      guard let kept else { throw error }
      attempt.kept(kept.count, of: kept.total)
      var failure = error
      if kept.before > 0 {
        failure.message += "; \(kept.count) \(kept.total.map { "of \($0) " } ?? "")bytes are kept"
      }
      throw failure
    }
  }

  private func purpose(_ settings: UserSettings, _ removals: Int) -> IncomingResponse.Purpose {
    let (url, key, role, store, cache) = (variant.url, key, variant.role, resources.storage.store, cache)
    return IncomingResponse.Purpose(
      url: url,
      limit: settings.downloadLimit,
      sent: identity.sent,
      kind: .image(
        IncomingResponse.Image(
          isConditional: fields.isConditional,
          metadata: { ImageMetadata(key: key, role: role, mediaType: $1, response: $0) }
        )
      ),
      storageObstacle: {
        guard cache.usesDisk else { return "not kept: the load bypasses the disk" }
        return storageAllowed(head: $0.head) ? nil : "not kept: the server forbids it (`no-store`)"
      },
      makeWriter: { () throws(CacheError) in try store.makeWriter(since: removals) }
    )
  }

  /// Takes a whole image into memory, and stores it on disk.
  ///
  /// An image that memory keeps is returned before it is stored, because a picture never waits for the
  /// disk. `removals` is ``ImageStoring/removals`` when the download began.
  private func keep(_ whole: IncomingResponse.Whole, since removals: Int) async -> FetchedImage {
    LoadEventReporter.report(.verified(mediaType: whole.mediaType))
    let (key, role, memory) = (key, variant.role, resources.storage.memory)
    var image = FetchedImage(
      bytes: whole.bytes,
      checksum: nil,
      mediaType: whole.mediaType,
      path: nil,
      source: .network,
      response: whole.response
    )
    guard storageAllowed(head: whole.response.head) else {
      image = await store(image, whole)
      await resources.forget(key)
      return image
    }
    guard cache.usesMemory else {
      // The store replaces the file of an earlier version that memory may have.
      memory.remove(key)
      return await store(image, whole)
    }
    let kept = image.kept(as: role)
    memory.insert(kept, for: key, since: removals)
    guard memory.has(kept, for: key) else { return await store(image, whole) }
    guard waitsForStorage || resources.storage.runningStores.hasRoom else {
      // Images that wait for a slow disk must not fill the memory.
      whole.writer?.discard()
      let obstacle = "not kept: too many images wait for the disk"
      LoadEventReporter.report(.notStored(obstacle))
      image.notes.append(obstacle)
      return image
    }
    let unstored = image
    image.storing = resources.storage.runningStores.begin(key, size: image.bytes.count) {
      let stored = await store(unstored, whole)
      memory.noteFile(stored.path, of: kept, for: key)
      return stored
    }
    return image
  }

  /// Stores an image on disk.
  ///
  /// - Returns: The image with its file, or with a note on why it has none.
  private func store(_ image: FetchedImage, _ whole: IncomingResponse.Whole) async -> FetchedImage {
    let (key, store) = (key, resources.storage.store)
    var (stored, obstacle) = (StoredImage?.none, whole.obstacle)
    if let writer = whole.writer, obstacle == nil {
      let metadata = ImageMetadata(
        key: key,
        role: variant.role,
        mediaType: whole.mediaType,
        response: whole.response
      )
      switch await resources.storage.commit(writer, metadata) {
      case .success(let image): stored = image
      case .failure(let error): obstacle = "not kept: \(error)"
      }
    } else {
      whole.writer?.discard()
    }
    if whole.hasPartial { await resources.storage.writes.run { store.removePartialDownload(of: key) } }
    if let step = stored.map({ .stored(path: $0.path) }) ?? obstacle.map({ LoadEvent.Step.notStored($0) }) {
      LoadEventReporter.report(step)
    }
    var image = image
    (image.checksum, image.path) = (stored?.checksum, stored?.path)
    image.notes += [obstacle].compactMap { $0 }
    return image
  }
}

/// The images that callers have and that are still being stored, by key.
@PipelineActor final class StoresInFlight {
  /// The most stores that may run before images of slots are no longer stored.
  nonisolated static let maximumCount = 256
  /// The most bytes of their images.
  nonisolated static let maximumSize = ByteCount.mebibytes(32)

  private var promises: [String: Promise<FetchedImage>] = [:]
  private var (count, size) = (0, 0)

  nonisolated init() {}

  /// The store that runs for a key; nil if none does.
  subscript(key: String) -> Promise<FetchedImage>? { promises[key] }

  /// Whether another image may wait for the disk.
  var hasRoom: Bool { count < Self.maximumCount && size < Self.maximumSize.bytes }

  /// Starts to store an image; no cancellation stops it.
  ///
  /// - Returns: A promise of the image with its file.
  func begin(
    _ key: String,
    size: Int,
    _ store: @escaping @PipelineActor @Sendable () async -> FetchedImage
  ) -> Promise<FetchedImage> {
    let promise = Promise<FetchedImage>()
    promises[key] = promise
    (count, self.size) = (count + 1, self.size + size)
    PipelineActor.task { [self] in
      promise.resolve(await store())
      (count, self.size) = (count - 1, self.size - size)
      if promises[key] === promise { promises[key] = nil }
    }
    return promise
  }
}
