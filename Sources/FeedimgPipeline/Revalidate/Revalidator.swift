import FeedimgHTTPCache
import FeedimgModel
import FeedimgSystem
import FeedimgTransfer
import Synchronization

/// Asks servers whether cached images are still valid: loads of low priority with conditional requests.
///
/// Callers that show the same image share one request. Another request follows at least 10 seconds after a
/// response. After failures, the interval grows from 30 seconds to an hour.
@PipelineActor final class Revalidator {
  private struct Past {
    var endedAt: Double
    var rest: Double
    var failures: Int
    var error: LoadError?
  }

  nonisolated static let backoff = Backoff(base: .seconds(30), maximum: .seconds(3600))
  /// The most images to revalidate at once, because each one stays in memory; the others wait until they are
  /// shown again.
  private nonisolated static let maximumCount = 64
  private nonisolated static let maximumRequests = 4096

  /// The coalescer of the requests; its results are the new image, or nil if the cached one is valid.
  nonisolated let coalescer = Coalescer<FetchedImage?>()
  private nonisolated let clock: @Sendable () -> Double
  /// Guards the last requests, which other threads read.
  private nonisolated let lastRequests = Mutex<[String: Past]>([:])
  private var background: [String: Task<Void, Never>] = [:]
  private var idleEvent: Event?
  private var summary = RevalidationSummary()

  nonisolated init(clock: @escaping @Sendable () -> Double) { self.clock = clock }

  /// Revalidates an image in the background, unless a request is running or has just ended.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - generation: The generation of the facts before the decision.
  ///   - mayFetch: Whether the policy would still fetch the image; if not, the request is cancelled.
  /// - Returns: Whether a result will follow.
  func begin(
    _ request: Revalidation.Request,
    since generation: Int?,
    while mayFetch: @escaping @PipelineActor @Sendable () -> Bool
  ) -> Bool {
    let key = request.loadKey
    if background[key] != nil || coalescer.count(of: key) > 0 { return true }
    guard !isTooRecent(key), background.count < Self.maximumCount else { return false }
    background[key] = PipelineActor.task { [self] in
      _ = await outcome(
        of: request,
        LoadWaiter(),
        LoadHandle(.prefetch),
        since: generation,
        while: mayFetch
      )
      background[key] = nil
      if background.isEmpty { idleEvent.take()?.signal() }
    }
    return true
  }

  /// Revalidates an image, or joins the running request.
  func outcome(
    of request: Revalidation.Request,
    _ waiter: LoadWaiter,
    _ handle: LoadHandle,
    since generation: Int?,
    while mayFetch: @escaping @PipelineActor @Sendable () -> Bool
  ) async -> Coalescer<FetchedImage?>.Outcome {
    await coalescer.outcome(for: request.loadKey, waiter, handle: handle) { load in
      let result = await request.perform(load, since: generation, while: mayFetch)
      self.note(request, result)
      return result
    }
  }

  /// Waits for the result of the running request for a key; nil if none runs.
  func running(_ key: String) async -> Coalescer<FetchedImage?>.Outcome? {
    guard coalescer.count(of: key) > 0 || background[key] != nil else { return nil }
    return await coalescer.outcome(for: key, handle: LoadHandle(.prefetch)) { _ in
      .failure(LoadError(.cancelled, message: "the request has ended"))
    }
  }

  /// Whether the last request for an image is too recent for another one.
  nonisolated func isTooRecent(_ key: String) -> Bool {
    let past = lastRequests.withLock { $0[key] }
    return past.map { (0..<$0.rest).contains(clock() - $0.endedAt) } ?? false
  }

  /// The failure of the last request for a key; nil if it succeeded.
  nonisolated func failure(of key: String) -> LoadError? { lastRequests.withLock { $0[key]?.error } }

  /// Forgets earlier requests, for example after a change of the network.
  nonisolated func forgetRequests() { lastRequests.withLock { $0 = [:] } }

  /// The number of remembered and running requests.
  var recordCount: Int { lastRequests.withLock(\.count) + background.count }

  func idle() async {
    guard !background.isEmpty else { return }
    let event = idleEvent ?? Event()
    idleEvent = event
    await event.wait()
  }

  func stop() { for task in background.values { task.cancel() } }

  /// Returns the results since the last call.
  func takeSummary() -> RevalidationSummary {
    defer { summary = RevalidationSummary() }
    return summary
  }

  private func note(_ request: Revalidation.Request, _ result: Result<FetchedImage?, LoadError>) {
    summary.count(result, of: request.variant.url)
    let before = lastRequests.withLock { $0[request.loadKey]?.failures ?? 0 }
    let (rest, failures): (Double, Int) =
      switch result.failure {
      case nil: (RevalidationPlan.minimumInterval, 0)
      case let error? where error.code == .cancelled: (0, before)
      case let error? where error.retry.circuit == .rejected:
        (error.retryAfter.map { Double($0) } ?? RevalidationPlan.minimumInterval, before)
      case let error?:
        (
          max(
            Double(error.retryAfter ?? 0),
            error.retry.lifetime ?? 0,
            Self.backoff.ceiling(after: before + 1) / .seconds(1)
          ), before + 1
        )
      }
    let past = Past(endedAt: clock(), rest: rest, failures: failures, error: result.failure)
    lastRequests.withLock { lastRequests in
      if lastRequests.count >= Self.maximumRequests { lastRequests = [:] }
      lastRequests[request.loadKey] = past
    }
  }
}

extension Revalidation {
  /// One conditional request for a cached image (RFC 9111 §4.3).
  ///
  /// If it fails, the cached image stays and can be shown (RFC 9111 §4.2.4, RFC 5861 §4).
  struct Request: Sendable {
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

    /// - Returns: The new image; nil if the cached one is still valid.
    @PipelineActor fileprivate func perform(
      _ load: InFlightLoad,
      since generation: Int?,
      while mayFetch: @escaping @PipelineActor @Sendable () -> Bool
    ) async -> Result<FetchedImage?, LoadError> {
      // The guard cancels this inner task, because it cannot cancel the load's own task.
      let task = PipelineActor.task {
        await Result.of { () async throws(LoadError) in try await ask(load) }
      }
      var isGivenUp = false
      let decision = DecisionGuard(
        resources.facts,
        LoadHandle(.prefetch),
        since: generation,
        holds: mayFetch
      ) {
        isGivenUp = true
        task.cancel()
      }
      defer { decision.end() }
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
      guard let asked = shown.response else { return nil }
      let (store, key, sent) = (resources.store, key, identity.sent)
      if !isReload, let stored = await resources.disk.run({ store.response(for: key, to: sent) }),
        isNewer(stored, than: asked)
      {
        // Another process has already received a newer response.
        return await resources.stored(key, for: sent).flatMap(different)
      }
      let response = try await resources.validate(key, asked, size: shown.bytes.count) {
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
    ) async throws(LoadError) -> ConditionalResponse<FetchedImage> {
      let download = ImageDownload(
        resources: resources,
        variant: variant,
        key: key,
        identity: identity,
        fields: HTTPFields(validators.fields + directives.fields),
        load: load
      )
      let response = try await resources.retries.perform(
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

    private func isNewer(_ stored: StoredResponse, than asked: StoredResponse) -> Bool {
      stored.respondedAt > asked.respondedAt
        && Freshness(of: stored, at: resources.clock()).state == .fresh
        && stored.matches(identity.sent)
    }
  }
}
