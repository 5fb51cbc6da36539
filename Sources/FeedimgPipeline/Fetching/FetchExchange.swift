import FeedimgHTTPCache
import FeedimgModel

/// One exchange with a server for the clients of `GET /v1/fetch`: the request, and the use of its response.
struct FetchExchange: Sendable {
  let cache: ResponseCache
  let request: FetchRequest
  let fields: HTTPFields
  let stored: ResponseStore.Hit?
  var fallback = FetchPlan.Fallback.none
  /// Whether the request validates the stored response, with its validators instead of the client's.
  var isValidation = false

  /// Limits the time of a server that sends a byte now and then.
  private static let maximumDuration = Duration.seconds(600)

  /// - Returns: The received response, or the stored one as it is after an update.
  @PipelineActor func run(_ load: InFlightLoad) async -> Result<StoredResponse, LoadError> {
    do throws(LoadError) {
      guard !cache.isOffline(for: request.url) else {
        throw LoadError(.connection, url: request.url, message: "there is no network")
      }
      guard let stored else { return .success(try await send(fields, load)) }
      let response = isValidation ? try await validate(stored, load) : .new(try await send(fields, load))
      switch response {
      case .notModified(let updated): return .success(updated)
      case .new(let new):
        await follow(new, stored)
        return .success(new)
      }
    } catch {
      return .failure(error)
    }
  }

  @PipelineActor private func validate(
    _ stored: ResponseStore.Hit,
    _ load: InFlightLoad
  ) async throws(LoadError) -> ValidationResult<StoredResponse> {
    let size = stored.bytes.count
    return try await resources.validate(stored.key, stored.response, size: size) {
      validators async throws(LoadError) in
      let response = try await send(request.whole(with: validators), load)
      return isNotModified(response.head) ? .notModified(response) : .new(response)
    }
  }

  /// Updates or removes the stored response as a new response demands.
  @PipelineActor private func follow(_ response: StoredResponse, _ stored: ResponseStore.Hit) async {
    if request.isHead {
      _ = await resources.update(stored.key, stored.response, by: response, size: stored.bytes.count)
    } else if response.head.status == 200, !responseStorageAllowed(head: response.head) {
      await resources.forget(stored.key)
    }
  }

  @PipelineActor private func send(
    _ fields: HTTPFields,
    _ load: InFlightLoad
  ) async throws(LoadError) -> StoredResponse {
    resources.loads.transfers.begin(load, of: request.url)
    defer { resources.loads.transfers.end(load) }
    let settings = resources.sources.settings.currentSettings()
    resources.follow(settings)
    cache.loader.requireCost()
    resources.factMonitor.watch()
    var download = DownloadRequest(
      url: request.url,
      fields: fields,
      bodyLimit: settings.downloadLimit,
      totalTimeout: Self.maximumDuration
    )
    download.method = request.isHead ? .head : .get
    download.followsRedirects = false
    let incoming = IncomingResponse(purpose(settings, fields), load, of: resources)
    defer { incoming.discard() }
    let session = DownloadSession(
      resources: resources,
      request: download,
      incoming: incoming,
      load: load,
      attempt: nil
    )
    try await session.perform()
    let whole = try incoming.finish()
    if let writer = whole.writer { await cache.store.commit(writer, whole.response, to: request) }
    return whole.response
  }

  private func purpose(_ settings: UserSettings, _ fields: HTTPFields) -> IncomingResponse.Purpose {
    let store = resources.storage.store
    let removals = store.removals
    return IncomingResponse.Purpose(
      url: request.url,
      limit: settings.downloadLimit,
      sent: request.fields,
      kind: .resource(
        IncomingResponse.Resource(
          isHead: request.isHead,
          isResumable: fields["range"].map(Self.isOpen) ?? true,
          check: { head throws(LoadError) in if let failure = failure(head) { throw failure } },
          isStreamed: { !isNotModified($0) }
        )
      ),
      storageObstacle: { stores($0) ? nil : "not kept" },
      makeWriter: { () throws(CacheError) in try store.makeWriter(since: removals) }
    )
  }

  /// Whether a range reaches to the end of the body (RFC 9110 §14.1.2), so that its rest can be requested alone.
  private static func isOpen(_ range: String) -> Bool {
    let digits = range.dropFirst("bytes=".count).dropLast()
    return range.hasPrefix("bytes=") && range.hasSuffix("-") && !digits.isEmpty
      && digits.allSatisfy { $0.isASCII && $0.isNumber }
  }

  private var resources: LoaderResources { cache.loader.resources }

  private func isNotModified(_ head: ResponseHead) -> Bool { isValidation && head.status == 304 }

  func stores(_ response: StoredResponse) -> Bool {
    !request.isHead && !request.control.has("no-store") && responseStorageAllowed(head: response.head)
  }

  /// A failure of the server for which the stored response may be used instead (RFC 5861 §4).
  private func failure(_ head: ResponseHead) -> LoadError? {
    guard fallback == .ifError, [500, 502, 503, 504].contains(head.status) else { return nil }
    return LoadError(.status, url: request.url, message: "the server failed", status: head.status)
  }
}
