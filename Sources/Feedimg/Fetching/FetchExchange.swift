import FeedimgCache
import FeedimgModel

/// One question to a server for who asks the cache of answers.
struct FetchExchange: Sendable {
  /// What the server said.
  enum Outcome: Sendable {
    /// What is stored is still right; its head as it is now.
    case unchanged(StoredAnswer)
    case answered(StoredAnswer)
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

  func run(_ run: LoadRun) async -> Result<Outcome, LoadError> {
    do throws(LoadError) {
      guard !cache.isOffline(for: request.url) else {
        throw LoadError(.connection, url: request.url, message: "there is no network")
      }
      let answer = try await ask(fields, run)
      guard let stored else { return .success(.answered(answer)) }
      guard isAnswered(by: answer.head) else {
        replace(stored, by: answer)
        return .success(.answered(answer))
      }
      guard Validators(of: stored.answer).match(notModified: answer.head.fields) else {
        // It is about a version that we do not have (RFC 9111 §4.3.4): then we need all of it.
        return .success(.answered(try await ask(request.whole(), run)))
      }
      return .success(.unchanged(update(stored, by: answer)))
    } catch {
      return .failure(error)
    }
  }

  private func ask(_ fields: HTTPFields, _ run: LoadRun) async throws(LoadError) -> StoredAnswer {
    cache.loader.transfers.begin(run, of: request.url)
    defer { cache.loader.transfers.end(run) }
    let settings = cache.loader.settings.currentSettings()
    cache.shelf.follow(settings)
    let collector = AnswerCollector(self, run)
    defer { collector.discard() }
    var order = DownloadRequest(
      url: request.url,
      fields: fields,
      bodyLimit: settings.downloadLimit,
      totalTimeout: Self.greatestDuration
    )
    order.method = request.isHead ? .head : .get
    cache.loader.askAboutCost()
    cache.loader.facts.watch()
    order.followsRedirects = false
    let transfer = GatedTransfer(
      downloader: cache.loader.downloader,
      gate: cache.loader.gate,
      request: order,
      receiver: collector,
      run: run,
      executor: cache.loader.disk
    )
    _ = try await transfer.perform()
    return try collector.finish()
  }

  // MARK: What an answer means

  /// Whether an answer says that what is stored is still right.
  func isAnswered(by head: ResponseHead) -> Bool { isValidation && head.status == 304 }

  /// Whether an answer is kept.
  func keeps(_ answer: StoredAnswer) -> Bool {
    !request.isHead && !request.control.has("no-store") && answerStorageAllowed(head: answer.head)
  }

  /// A failure of the server in place of which what is stored may be shown (RFC 5861 §4).
  func failure(_ head: ResponseHead) -> LoadError? {
    guard fallback == .ifError, [500, 502, 503, 504].contains(head.status) else { return nil }
    return LoadError(.status, url: request.url, message: "the server failed", status: head.status)
  }

  private func replace(_ stored: AnswerShelf.Finding, by answer: StoredAnswer) {
    if request.isHead {
      // What a head says of what is stored counts as well (RFC 9111 §4.3.5).
      cache.shelf.refresh(stored, by: answer)
    } else if answer.head.status == 200, !answerStorageAllowed(head: answer.head) {
      cache.shelf.remove(stored)
    }
  }

  private func update(_ stored: AnswerShelf.Finding, by news: StoredAnswer) -> StoredAnswer {
    let updated = stored.answer.updated(by: news)
    guard storageAllowed(head: updated.head) else {
      cache.shelf.remove(stored)
      return updated
    }
    cache.shelf.refresh(stored, by: news)
    return updated
  }
}
