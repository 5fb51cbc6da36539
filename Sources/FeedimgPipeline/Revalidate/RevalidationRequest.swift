import FeedimgHTTPCache
import FeedimgModel
import FeedimgSystem

/// One conditional request for a cached image (RFC 9111 §4.3).
///
/// If it fails, the cached image stays and can be shown (RFC 9111 §4.2.4, RFC 5861 §4).
struct RevalidationRequest: Sendable {
  let resources: LoaderResources
  let variant: ImageVariant
  /// The key of the image in the cache.
  let key: String
  /// The request fields that describe the program.
  let identity: RequestIdentity
  let shown: FetchedImage
  /// Whether to bypass all caches on the way and responses to earlier requests.
  let isReload: Bool

  /// The key of the load, which is equal for all requests that may share a response.
  var loadKey: String { identity.shared(key, adding: directives) }

  private var directives: HTTPFields { isReload ? ImageDownload.endToEnd : HTTPFields() }

  /// Sends the request.
  ///
  /// - Parameters:
  ///   - load: The load of the request.
  ///   - generation: The generation of the facts before the decision.
  ///   - mayFetch: Whether the policy would still fetch the image; if not, the request is cancelled.
  /// - Returns: The new image; nil if the cached one is still valid.
  @PipelineActor func perform(
    _ load: InFlightLoad,
    since generation: Int?,
    while mayFetch: @escaping @PipelineActor @Sendable () -> Bool
  ) async -> Result<FetchedImage?, LoadError> {
    // The guard cancels this inner task, because it cannot cancel the load's own task.
    let task = PipelineActor.task {
      await Result.of { () async throws(LoadError) in try await ask(load) }
    }
    var isGivenUp = false
    let decisionGuard = DecisionGuard(
      resources.factMonitor,
      LoadHandle(.prefetch),
      since: generation,
      holds: mayFetch
    ) {
      isGivenUp = true
      task.cancel()
    }
    defer { decisionGuard.end() }
    var result = await task.cancellableValue
    if isGivenUp, result.failure?.code == .cancelled {
      let message = "the policy would no longer fetch the image"
      result = .failure(LoadError(.cancelled, url: variant.url, message: message))
    }
    switch result {
    case .success(let new): LoadEventReporter.report(.revalidated(isNew: new != nil))
    case .failure(let error): LoadEventReporter.report(.notRevalidated(error))
    }
    return result
  }

  @PipelineActor private func ask(_ load: InFlightLoad) async throws(LoadError) -> FetchedImage? {
    guard let old = shown.response else { return nil }
    let (store, key, sent) = (resources.storage.store, key, identity.sent)
    if !isReload, let stored = await resources.storage.reads.run({ store.response(for: key, to: sent) }),
      isNewer(stored, than: old)
    {
      // Another process has already received a newer response.
      return await resources.readFromDisk(key, for: sent).flatMap(different)
    }
    let response = try await resources.validate(key, old, size: shown.bytes.count) {
      validators async throws(LoadError) in try await download(validators, load)
    }
    switch response {
    case .new(let image): return different(image)
    case .notModified: return nil
    }
  }

  @PipelineActor private func download(
    _ validators: HTTPFields,
    _ load: InFlightLoad
  ) async throws(LoadError) -> ValidationResult<FetchedImage> {
    let download = ImageDownload(
      resources: resources,
      variant: variant,
      key: key,
      identity: identity,
      fields: HTTPFields(validators.fields + directives.fields),
      load: load
    )
    let response = try await resources.transport.retries.perform(
      variant.url,
      key: identity.failureKey(of: variant.url),
      isRevalidation: true
    ) { attempt async throws(LoadError) in try await download.run(attempt) }
    guard case .new(let image) = response, let stored = await image.storing?.value() else {
      return response
    }
    return .new(stored)
  }

  /// Returns nil for an unchanged image, because servers without validators send the same image again.
  private func different(_ image: FetchedImage) -> FetchedImage? {
    image.bytes == shown.bytes ? nil : image
  }

  private func isNewer(_ stored: StoredResponse, than shown: StoredResponse) -> Bool {
    stored.respondedAt > shown.respondedAt
      && Freshness(of: stored, at: resources.clock()).state == .fresh
      && stored.matches(identity.sent)
  }
}
