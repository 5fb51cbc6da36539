import FeedimgCache
import FeedimgModel

/// Asks the server of a cached image whether that is still what it has, and keeps what it says (RFC 9111 §4.3).
///
/// A server that failed and is left alone is not asked. Whatever goes wrong, the image that is cached stays and can be shown (§4.2.4, RFC 5861 §4).
struct ImageRevalidation: Sendable {
  let loader: ImageLoader
  let variant: ImageVariant
  /// What the request says of who asks.
  let identity: RequestIdentity
  /// What is shown meanwhile.
  let shown: FetchedImage
  /// Whether to ask beyond all caches on the way, and whoever has asked before.
  var isEndToEnd = false
  /// Ends asking once the policy would no longer fetch the image; nil where it goes on whatever happens.
  var vigil: DecisionVigil?
  /// That of the load which shows the image; asking may begin in a task of another.
  let witness = LoadWitness.present

  /// What is the same for all who may share one answer.
  var key: String { identity.shared(variant.url.key, asking: directives) }

  /// What caches on the way are told.
  private var directives: HTTPFields { isEndToEnd ? ImageTransfer.endToEnd : HTTPFields() }

  /// - Parameter run: Tells how urgently the answer is wanted.
  /// - Returns: The new version; nil where the image is still the same.
  /// - Throws: ``LoadError`` where there was no answer that says either.
  func ask(_ run: LoadRun) async throws(LoadError) -> FetchedImage? {
    guard let asked = shown.answer else { return nil }
    if !isEndToEnd, let stored = loader.store.answer(for: variant.url.key, to: identity.sent),
      isNews(stored, beside: asked)
    {
      return loader.stored(variant).flatMap(news)
    }
    let validators = Validators(of: asked)
    switch try await transfer(validators.question, run) {
    case .image(let image):
      return news(image)
    case .notModified(let news) where validators.match(notModified: news.head.fields):
      keep(news, about: asked)
      return nil
    case .notModified:
      // It is about a version that we do not have (§4.3.4): then we need all of it.
      guard case .image(let image) = try await transfer(HTTPFields(), run) else { return nil }
      return news(image)
    }
  }

  private func transfer(
    _ question: HTTPFields,
    _ run: LoadRun
  ) async throws(LoadError) -> ImageTransfer.Outcome {
    let fields = HTTPFields(question.fields + directives.fields)
    return try await loader.failures.performOnce(variant.url) { begun async throws(LoadError) in
      try await ImageTransfer(
        loader: loader,
        variant: variant,
        identity: identity,
        question: fields,
        run: run,
        begun: begun
      ).run()
    }
  }

  /// Servers that know no validators send the same image again.
  private func news(_ image: FetchedImage) -> FetchedImage? { image.bytes == shown.bytes ? nil : image }

  // MARK: Another process was faster

  private func isNews(_ stored: StoredAnswer, beside asked: StoredAnswer) -> Bool {
    stored.respondedAt > asked.respondedAt
      && Freshness(of: stored, at: loader.clock()).standing == .fresh
      && Vary(stored.head.fields).matches(stored.varied, identity.sent)
  }

  // MARK: The image is still the same

  private func keep(_ news: StoredAnswer, about asked: StoredAnswer) {
    let key = variant.url.key
    let updated = asked.updated(by: news)
    guard storageAllowed(head: updated.head) else { return loader.forget(key) }
    // What cannot be written down is asked again another time.
    _ = try? loader.store.refresh(key, asked: asked, news: news)
    loader.memory.update(key, from: asked, to: updated)
  }
}

extension ImageRevalidation {
  /// The same, for the desk.
  func outcome(_ run: LoadRun) async -> RevalidationDesk.Outcome {
    await LoadWitness.with(witness) {
      do throws(LoadError) {
        let new = try await askWhileAllowed(run)
        LoadWitness.tell(.revalidated(isNew: new != nil))
        return .success(new)
      } catch {
        LoadWitness.tell(.notRevalidated(error))
        return .failure(error)
      }
    }
  }

  private func askWhileAllowed(_ run: LoadRun) async throws(LoadError) -> FetchedImage? {
    guard let vigil else { return try await askUntilStopped(run) }
    let new = try await vigil.whileItHolds { () async throws(LoadError) in try await askUntilStopped(run) }
    guard let new else {
      throw LoadError(.cancelled, url: variant.url, message: "the policy would no longer fetch it")
    }
    return new
  }

  /// The same; from when it is stopped on, who loads the image waits for its end.
  private func askUntilStopped(_ run: LoadRun) async throws(LoadError) -> FetchedImage? {
    let outcome = await withTaskCancellationHandler { () async -> Result<FetchedImage?, LoadError> in
      do throws(LoadError) {
        return .success(try await ask(run))
      } catch {
        return .failure(error)
      }
    } onCancel: {
      run.leave()
    }
    return try outcome.get()
  }
}
