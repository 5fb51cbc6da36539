import FeedimgCache
import FeedimgModel
import FeedimgSystem

/// Downloads one image, or asks whether a stored one is still valid, and stores what comes.
@PipelineActor struct ImageDownload {
  enum Outcome: Sendable {
    case image(FetchedImage)
    /// The stored image is still valid (304); the news of it.
    case notModified(StoredResponse)
  }

  let loader: ImageLoader
  let variant: ImageVariant
  /// What the request says of the program; the store keeps what `Vary` names of it.
  let identity: RequestIdentity
  /// Sent as well, such as validators.
  var fields = HTTPFields()
  let load: InFlightLoad

  /// A server that sends a byte now and then is given up in the end, however long the image.
  private nonisolated static let greatestDuration = Duration.seconds(600)

  /// Asks caches on the way for a new response (RFC 9111 §5.2.1.4).
  nonisolated static let endToEnd = HTTPFields([.init(name: "Cache-Control", value: "no-cache")])

  /// One attempt.
  func run(_ attempt: Attempt) async throws(LoadError) -> Outcome {
    let settings = loader.settings.currentSettings()
    loader.follow(settings)
    loader.transfers.begin(load, of: variant)
    defer { loader.transfers.end(load) }
    let incoming = IncomingResponse(purpose(settings), load, of: loader)
    let (store, key) = (loader.store, variant.url.key)
    if let partial = await loader.disk.run({ store.partialDownload(of: key) }) { incoming.resume(partial) }
    load.setScans(of: variant.url) { [weak incoming] in incoming?.scan() }
    defer {
      load.setScans(of: variant.url, nil)
      incoming.discard()
    }
    let request = DownloadRequest(
      url: variant.url,
      fields: HTTPFields(identity.fields.fields + fields.fields),
      bodyLimit: settings.downloadLimit,
      totalTimeout: Self.greatestDuration
    )
    let session = DownloadSession(
      loader: loader,
      request: request,
      incoming: incoming,
      load: load,
      attempt: attempt
    )
    do throws(LoadError) {
      try await session.perform()
      if let news = incoming.notModified { return .notModified(news) }
      return .image(await keep(try incoming.finish()))
    } catch {
      let kept = incoming.interrupt(error) { store.removePartialDownload(of: key) }
      guard let kept else { throw error }
      attempt.kept(kept.count, of: kept.total)
      var failure = error
      if kept.before > 0 {
        failure.message += "; \(kept.count) \(kept.total.map { "of \($0) " } ?? "")bytes are kept"
      }
      throw failure
    }
  }

  private func purpose(_ settings: UserSettings) -> IncomingResponse.Purpose {
    let (url, role, store) = (variant.url, variant.role, loader.store)
    return IncomingResponse.Purpose(
      url: url,
      limit: settings.downloadLimit,
      sent: identity.sent,
      isImage: true,
      isConditional: fields.isConditional,
      storageObstacle: {
        storageAllowed(head: $0.head) ? nil : "not kept: the server forbids it (`no-store`)"
      },
      makeWriter: { () throws(CacheError) in try store.makeWriter() },
      metadata: { ImageMetadata(key: url.key, role: role, mediaType: $1, response: $0) }
    )
  }

  /// Stores a whole image on disk and in memory.
  private func keep(_ whole: IncomingResponse.Whole) async -> FetchedImage {
    LoadWitness.tell(.verified(mediaType: whole.mediaType))
    let (key, store) = (variant.url.key, loader.store)
    var (stored, obstacle) = (StoredImage?.none, whole.obstacle)
    if let writer = whole.writer, obstacle == nil {
      let metadata = ImageMetadata(
        key: key,
        role: variant.role,
        mediaType: whole.mediaType,
        response: whole.response
      )
      switch await Self.commit(writer, metadata, on: loader.disk) {
      case .success(let image): stored = image
      case .failure(let error): obstacle = "not kept: \(error)"
      }
    } else {
      whole.writer?.discard()
    }
    if whole.hasPartial { loader.disk.enqueue { store.removePartialDownload(of: key) } }
    if let step = stored.map({ .stored(path: $0.path) }) ?? obstacle.map({ LoadEvent.Step.notStored($0) }) {
      LoadWitness.tell(step)
    }
    let image = FetchedImage(
      bytes: whole.bytes,
      checksum: stored?.checksum,
      mediaType: whole.mediaType,
      path: stored?.path,
      source: .network,
      response: whole.response,
      notes: [obstacle].compactMap { $0 }
    )
    if storageAllowed(head: whole.response.head) {
      loader.memory.insert(image.kept(as: variant.role), for: key)
    } else {
      await loader.forget(key)
    }
    return image
  }

  /// Makes a body visible in the store, on the thread that may wait for files.
  private static func commit(
    _ writer: any ImageWriting,
    _ metadata: ImageMetadata,
    on disk: ThreadExecutor
  ) async -> Result<StoredImage, CacheError> {
    await withTaskExecutorPreference(disk) { await committed(writer, metadata, on: disk) }
  }

  @concurrent private nonisolated static func committed(
    _ writer: any ImageWriting,
    _ metadata: ImageMetadata,
    on disk: ThreadExecutor
  ) async -> Result<StoredImage, CacheError> {
    do throws(CacheError) {
      return .success(try await writer.commit(metadata, disk.afterwards))
    } catch {
      writer.discard()
      return .failure(error)
    }
  }
}

extension ImageLoader {
  /// Updates a stored response from a 304, or from a response to HEAD, on disk and in memory.
  ///
  /// - Returns: The updated response, which the server may forbid to store; nil if `news` is about another version.
  func update(
    _ key: String,
    _ stored: StoredResponse,
    by news: StoredResponse,
    size: Int
  ) async -> StoredResponse? {
    guard let updated = stored.validated(by: news, size: size) else { return nil }
    guard storageAllowed(head: updated.head) else {
      await forget(key)
      return updated
    }
    // An update that cannot be written costs another validation later.
    await disk.run { [store] in _ = try? store.refresh(key, asked: stored, news: news) }
    memory.update(key, from: stored, to: updated)
    return updated
  }

  /// Removes an image that must not be kept any more.
  func forget(_ key: String) async {
    // Where it cannot be removed now, the next response will forbid it again.
    await disk.run { [store] in _ = try? store.remove(key) }
    // Last, so that no load takes it from the disk into memory again.
    memory.remove(key)
  }
}
