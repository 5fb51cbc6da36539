import FeedimgCache
import FeedimgModel

/// One load, from the decision to the image.
struct LoadOperation: Sendable {
  let loader: ImageLoader
  let item: FeedItem
  let facts: [String: String]
  let progress: (@Sendable (LoadProgress) -> Void)?
  /// Called like ``progress``, also with the head of an answer before anything of the image has come, and with whether
  /// the bytes count with this load, as it is the first of those who share them.
  var account: (@Sendable (LoadProgress, _ isFirst: Bool) -> Void)?
  /// Whether to ask first about what is cached.
  var isReload = false
  var wish = LoadWish(.visible)
  /// Hears of an image that begins to come.
  var arrival: (@Sendable (ArrivingImage) -> Void)?
  /// What pixels to make of it, asked when it is there; nil for none.
  var pixels: @Sendable () -> DecodeRequest? = { nil }
  /// Hears of the steps of this load alone, beside the observers of the loader.
  var observer: (any LoadObserving)?
  /// Called with ``progress``, for who wants to see what has come.
  var onArrival: (@Sendable (LoadRun) -> Void)?

  /// Whether to wait for a server that is silent and left alone; who is woken when that answers need not.
  var isPatient = true
  /// Whether a thumbnail may be fetched in place of an original that failed, by what is decided of it.
  var allowsStandIn: @Sendable (Resolution) -> Bool = { _ in true }
  /// Whether the image has been handed on as it comes, so that nothing can take its place.
  var isHandedOn: @Sendable () -> Bool = { false }

  /// The ``FactWatch/standing`` before the decision that is followed; nil where changes since were told to nobody.
  var standing: Int?

  /// What has just been decided, with the standing before; nil to decide when it runs.
  var beginning: Beginning?

  struct Beginning: Sendable {
    let resolution: Resolution
    let standing: Int?
  }

  /// A cached image that turns out damaged when it is read changes the situation; so often it is looked at again.
  private static let attempts = 3

  /// What came of following a decision.
  enum Step {
    case image(LoadedImage)
    /// The cache did not hold what it promised.
    case missing
    /// The facts have changed meanwhile, and with them the decision.
    case outdated
  }

  /// Does what is decided, also where that changes on the way.
  @concurrent func run() async throws(LoadError) -> LoadedImage {
    let observers = observer.map { loader.observers + [$0] } ?? loader.observers
    return try await LoadWitness.attend(item, observers) { () async throws(LoadError) in
      try await loaded()
    }
  }

  private func loaded() async throws(LoadError) -> LoadedImage {
    var misses = 0
    var operation = self
    while true {
      let resolution = operation.begin()
      LoadWitness.tell(.decided(resolution))
      switch try await operation.decoded(try await operation.follow(resolution)) {
      case .image(let image): return image
      case .outdated where isHandedOn():
        throw LoadError(.cancelled, message: "nobody waits for another image")
      case .outdated: continue
      case .missing:
        misses += 1
        if misses == Self.attempts { throw placeholder(resolution) }
      }
    }
  }

  /// What is to be followed from now on.
  private mutating func begin() -> Resolution {
    if let beginning = beginning.take() {
      standing = beginning.standing
      return beginning.resolution
    }
    standing = loader.facts.standing
    let resolution = resolution()
    return resolution.decision.load != nil && loader.askAboutCost() ? self.resolution() : resolution
  }

  /// What is decided now.
  ///
  /// - Parameter trustingNetwork: See ``ImageLoader/resolve(_:trustingNetwork:_:)``.
  /// - Returns: With the laws applied, also where the original was asked for.
  func resolution(trustingNetwork: Bool = false) -> Resolution {
    var resolution = loader.resolve([item], trustingNetwork: trustingNetwork) { _ in facts }[0]
    guard wish.asksForOriginal else { return resolution }
    let rule = resolution.decision.rule
    resolution.decision = Decision(ceiling: .original, in: resolution.situation, rule: rule)
    resolution.why = "asked for; \(resolution.why)"
    return resolution
  }

  private func follow(_ resolution: Resolution) async throws(LoadError) -> Step {
    guard let role = resolution.decision.image.role, let variant = item[role] else {
      throw placeholder(resolution)
    }
    guard resolution.decision.load != nil else {
      guard let found = loader.cached(variant) else { return .missing }
      guard let checked = try await revalidated(found, variant, resolution) else { return .outdated }
      return .image(image(checked, variant, resolution))
    }
    do throws(LoadError) {
      guard let fetched = try await fetched(variant, resolution) else { return .outdated }
      return .image(image(fetched, variant, resolution))
    } catch {
      var failure = error
      failure.resolution = resolution
      return try await fallback(from: variant, after: failure, resolution)
    }
  }

  // MARK: What is not cached

  /// The image from whoever brings it; nil where something else has been decided meanwhile.
  func fetched(
    _ variant: ImageVariant,
    _ resolution: Resolution,
    standingInFor failure: LoadError? = nil
  ) async throws(LoadError) -> FetchedImage? {
    if !isPatient, let silence = loader.failures.silence(of: variant.url) { throw silence }
    if isReload { loader.failures.forget(variant.url) }
    let audience = arrival.map { tell in
      { @Sendable (arrival: Arrival) in
        tell(ArrivingImage(variant, resolution, arrival, note: failure?.standInNote))
      }
    }
    let vigil =
      failure == nil
      ? DecisionVigil(over: self, decided: resolution.decision.image) : DecisionVigil(overStandIn: self)
    // A stand-in may be asked for long after the decision.
    let identity = failure == nil ? loader.identity.asking(in: resolution.situation) : identity
    let question = isReload ? ImageTransfer.endToEnd : HTTPFields()
    let key = identity.shared(variant.url.key, asking: question)
    let share = try await vigil.whileItHolds { () async throws(LoadError) in
      try await loader.desk.answer(for: key, wish: wish, progress: listener, arrival: audience) { run in
        let departure = Departure(identity) { [standing] in
          standing != nil && loader.facts.standing == standing ? identity : self.identity
        }
        // Another load of the same image may have ended since the decision was made.
        if let image = loader.cached(variant), image.suits(identity) { return .success(image) }
        do throws(LoadError) {
          // Who tries again is the service, if it loads.
          if let image = try await served(variant, run) {
            // Its server has answered, whoever asked.
            if image.source == .network || run.isPaidElsewhere {
              loader.failures.returned(variant.url.origin)
            }
            return run.completed(image)
          }
          let image = try await loader.failures.perform(variant.url) { begun async throws(LoadError) in
            try await transferred(variant, question, run, begun, departure)
          }
          return run.completed(image)
        } catch {
          guard departure.isMissed else { return .failure(error.withHint) }
          // Who reads it meanwhile must not take it for whole.
          run.arrival?.body.end(error)
          return .success(nil)
        }
      }
    }
    guard let share, var image = share.answer else { return nil }
    // Whoever joined moved no byte: another load of this process brought them.
    if !share.isFirst { image.source = .memory }
    return image
  }

  /// What is said to servers now.
  private var identity: RequestIdentity {
    let reader = loader.look().reader
    let isLocal = reader.isLocal(item)
    return loader.identity.asking(
      in: reader.situation(original: .remote, thumbnail: .remote, size: nil, isLocal: isLocal)
    )
  }

  private var listener: LoadRun.Listener? {
    guard progress != nil || account != nil || onArrival != nil else { return nil }
    return { [progress, account, onArrival] told, run, isFirst in
      account?(told, isFirst)
      guard told.received.bytes > 0 else { return }
      progress?(told)
      onArrival?(run)
    }
  }

  /// The image by the service; nil where the program is to load it itself.
  private func served(_ variant: ImageVariant, _ run: LoadRun) async throws(LoadError) -> FetchedImage? {
    guard !isReload, let service = loader.service else { return nil }
    let settings = loader.settings.currentSettings()
    let image = try await service.load(variant, settings, from: loader.store, run: run)
    if let image, image.answer != nil {
      loader.memory.insert(image.kept(as: variant.role), for: variant.url.key)
    }
    return image
  }

  private func transferred(
    _ variant: ImageVariant,
    _ question: HTTPFields,
    _ run: LoadRun,
    _ begun: LoadTry,
    _ departure: Departure
  ) async throws(LoadError) -> FetchedImage {
    let transfer = ImageTransfer(
      loader: loader,
      variant: variant,
      identity: departure.identity,
      question: question,
      run: run,
      begun: begun,
      departure: departure
    )
    guard case .image(let image) = try await transfer.run() else {
      throw LoadError(.malformed, url: variant.url, message: "the server answered a question nobody asked")
    }
    return image
  }

  // MARK: Answers

  func image(
    _ fetched: FetchedImage,
    _ variant: ImageVariant,
    _ resolution: Resolution
  ) -> LoadedImage {
    var image = LoadedImage(
      variant: variant,
      source: fetched.source,
      resolution: resolution,
      bytes: fetched.bytes,
      mediaType: fetched.mediaType,
      path: fetched.path,
      freshness: fetched.freshness(at: loader.clock()),
      notes: fetched.notes
    )
    image.revalidation = fetched.revalidation
    return image
  }

  private func placeholder(_ resolution: Resolution) -> LoadError {
    var error = LoadError(.nothingToShow, message: "only the placeholder can be shown: \(resolution.why)")
    error.resolution = resolution
    return error
  }
}

extension LoadError {
  /// The same, with what may be behind it.
  var withHint: LoadError {
    guard suspectsCaptivePortal, !message.hasSuffix(CaptivePortal.words) else { return self }
    var error = self
    error.message += "; \(CaptivePortal.words)"
    return error
  }
}

extension LoadRun {
  /// What the load came to: the image, which another transfer may have brought after that of this run broke off.
  ///
  /// Who reads what has come of this one must not take it for whole then.
  fileprivate func completed(_ image: FetchedImage) -> Result<FetchedImage?, LoadError> {
    if let body = arrival?.body, body.count != image.bytes.count {
      body.end(
        LoadError(.truncated, message: "the transfer broke off, and another one has brought the image")
      )
    }
    return .success(image)
  }
}
