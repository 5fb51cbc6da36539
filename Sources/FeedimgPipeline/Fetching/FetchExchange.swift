import FeedimgCache
import FeedimgModel
import FeedimgSystem

/// One question to a server for who asks the cache of answers.
struct FetchExchange: Sendable {
  /// What the server said.
  enum Outcome: Sendable {
    /// What is stored is still right; its head as it is now.
    case unchanged(StoredResponse)
    case answered(StoredResponse)
  }

  let cache: AnswerCache
  let request: FetchRequest
  /// What is sent.
  let fields: HTTPFields
  let stored: AnswerShelf.Finding?
  let fallback: FetchPlan.Fallback
  /// Whether the question is ours, about what is stored, rather than the client's.
  let isValidation: Bool

  /// A server that drips a byte now and then is given up in the end.
  private static let greatestDuration = Duration.seconds(600)

  @PipelineActor func run(_ load: InFlightLoad) async -> Result<Outcome, LoadError> {
    do throws(LoadError) {
      guard !cache.isOffline(for: request.url) else {
        throw LoadError(.connection, url: request.url, message: "there is no network")
      }
      let response = try await ask(fields, load)
      guard let stored else { return .success(.answered(response)) }
      guard isAnswered(by: response.head) else {
        await onDisk { replace(stored, by: response) }
        return .success(.answered(response))
      }
      guard Validators(of: stored.answer).match(notModified: response.head.fields) else {
        // It is about a version that is not stored here (RFC 9111 §4.3.4): the whole response is requested.
        return .success(.answered(try await ask(request.whole(), load)))
      }
      return .success(.unchanged(await onDisk { update(stored, by: response) }))
    } catch {
      return .failure(error)
    }
  }

  private func onDisk<Answer: Sendable>(_ work: @escaping @Sendable () -> Answer) async -> Answer {
    await cache.loader.disk.run(work)
  }

  @PipelineActor private func ask(
    _ fields: HTTPFields,
    _ load: InFlightLoad
  ) async throws(LoadError) -> StoredResponse {
    let loader = cache.loader
    loader.transfers.begin(load, of: request.url)
    defer { loader.transfers.end(load) }
    let settings = loader.settings.currentSettings()
    cache.shelf.follow(settings)
    loader.askAboutCost()
    loader.facts.watch()
    var download = DownloadRequest(
      url: request.url,
      fields: fields,
      bodyLimit: settings.downloadLimit,
      totalTimeout: Self.greatestDuration
    )
    download.method = request.isHead ? .head : .get
    download.followsRedirects = false
    let incoming = IncomingResponse(purpose(settings, fields), load, of: loader)
    defer { incoming.discard() }
    let session = DownloadSession(
      loader: loader,
      request: download,
      incoming: incoming,
      load: load,
      attempt: nil
    )
    try await session.perform()
    let whole = try incoming.finish()
    if let writer = whole.writer {
      await onDisk {
        // What the disk does not take is fetched again.
        _ = try? cache.shelf.keep(writer, whole.response, to: request)
        writer.discard()
      }
    }
    return whole.response
  }

  private func purpose(_ settings: UserSettings, _ fields: HTTPFields) -> IncomingResponse.Purpose {
    IncomingResponse.Purpose(
      url: request.url,
      limit: settings.downloadLimit,
      sent: request.fields,
      isImage: false,
      isConditional: false,
      isHead: request.isHead,
      isResumable: fields["range"].map(Self.isOpen) ?? true,
      check: { head throws(LoadError) in if let failure = failure(head) { throw failure } },
      isStreamed: { !isAnswered(by: $0) },
      storageObstacle: { keeps($0) ? nil : "not kept" },
      makeWriter: { [shelf = cache.shelf] () throws(CacheError) in try shelf.makeWriter() },
      metadata: { response, _ in
        ImageMetadata(key: request.url.key, role: .original, mediaType: "", answer: response)
      }
    )
  }

  /// Whether a range reaches to the end of the body (RFC 9110 §14.1.2), so that its rest can be requested alone.
  private static func isOpen(_ range: String) -> Bool {
    let digits = range.dropFirst("bytes=".count).dropLast()
    return range.hasPrefix("bytes=") && range.hasSuffix("-") && !digits.isEmpty
      && digits.allSatisfy { $0.isASCII && $0.isNumber }
  }

  // MARK: What an answer means

  /// Whether an answer says that what is stored is still right.
  func isAnswered(by head: ResponseHead) -> Bool { isValidation && head.status == 304 }

  /// Whether an answer is kept.
  func keeps(_ answer: StoredResponse) -> Bool {
    !request.isHead && !request.control.has("no-store") && answerStorageAllowed(head: answer.head)
  }

  /// A failure of the server in place of which what is stored may be shown (RFC 5861 §4).
  func failure(_ head: ResponseHead) -> LoadError? {
    guard fallback == .ifError, [500, 502, 503, 504].contains(head.status) else { return nil }
    return LoadError(.status, url: request.url, message: "the server failed", status: head.status)
  }

  private func replace(_ stored: AnswerShelf.Finding, by answer: StoredResponse) {
    if request.isHead {
      // A response to HEAD updates the stored response (RFC 9111 §4.3.5).
      cache.shelf.refresh(stored, by: answer)
    } else if answer.head.status == 200, !answerStorageAllowed(head: answer.head) {
      cache.shelf.remove(stored)
    }
  }

  private func update(_ stored: AnswerShelf.Finding, by news: StoredResponse) -> StoredResponse {
    let updated = stored.answer.updated(by: news)
    guard storageAllowed(head: updated.head) else {
      cache.shelf.remove(stored)
      return updated
    }
    cache.shelf.refresh(stored, by: news)
    return updated
  }
}
