import FeedimgHTTPCache
import FeedimgModel
import FeedimgPolicy

/// One load of one caller, from the decision to the image.
///
/// ``perform(_:)`` lists all steps in order. Each step returns a value and never calls an earlier step. If a
/// change of the facts leads to another image, the load starts again with a new plan.
package struct ImageLoad: Sendable {
  let loader: ImageLoader
  let item: FeedItem
  let facts: [String: String]
  package var handle = LoadHandle(.visible)
  /// How the load uses memory and disk.
  var cache = CachePolicy.default
  /// Returns the pixels to make once the image has arrived; nil for none.
  package var pixels: @Sendable () -> DecodeRequest? = { nil }

  /// Hears of the progress, first with the head of the response and zero bytes.
  package var listener: InFlightLoad.Listener?
  /// Receives the steps of this load, in addition to the observers of the loader.
  var observer: (any LoadObserving)?
  var reader: Reader?
  package var limits = Limits()
  /// A decision that the caller has just made, with the generation of the facts before it.
  package var decided: (resolution: Resolution, generation: Int?)?

  /// Reads the image while it arrives.
  struct Reader: Sendable {
    /// Called as soon as the arriving image can be read.
    let onResponse: @Sendable (StreamingImage) -> Void
    /// Whether the reader has bytes of the image, so that no other image may replace it.
    let hasBytes: @Sendable () -> Bool
  }

  /// The waits and requests that the caller permits.
  package struct Limits: Sendable {
    /// Whether to wait for a host that does not respond; callers that subscribe to its circuit do not.
    package var waitsForUnresponsiveHosts = true
    /// Whether to return only once the image is stored, with its file.
    package var waitsForStorage = true
    /// Whether the load may fetch a thumbnail in place of an original that failed.
    package var allowsFallback: @Sendable (Resolution) -> Bool = { _ in true }
  }

  /// The steps that follow from one decision.
  struct Plan: Sendable {
    let variant: ImageVariant
    let resolution: Resolution
    /// The facts for the request: those of the decision, or of the fallback that follows it.
    let situation: Situation
    /// The generation of the facts before the decision; nil if changes are not reported.
    let generation: Int?
    /// Whether the image comes from a server; otherwise it is cached.
    let fetches: Bool
    /// The failure of the original, if this plan loads the thumbnail in its place.
    var failure: LoadError? { boxedFailure?.value }
    /// Whether the load may ask the server about the cached image.
    var revalidates = true
    var boxedFailure: Boxed<LoadError>?
  }

  /// The result of following a plan.
  enum Step: Sendable {
    case image(LoadedImage)
    /// The original failed; this plan loads the thumbnail.
    case next(Plan)
    /// The facts have changed, and the policy now chooses another image.
    case outdated
    /// The cached image is missing.
    case missing
  }

  private var resources: LoaderResources { loader.resources }
  private var isReload: Bool { cache == .reload }
  private var isDelivered: Bool { reader?.hasBytes() ?? false }

  /// The number of times that a load may find a cached image missing or damaged before it fails.
  private static let maximumMisses = 3

  package init(loader: ImageLoader, item: FeedItem, facts: [String: String]) {
    (self.loader, self.item, self.facts) = (loader, item, facts)
  }

  /// Loads the image.
  @PipelineActor package func run() async throws(LoadError) -> LoadedImage {
    FreedMemory.begin()
    defer { FreedMemory.end() }
    let observers = observer.map { resources.loads.observers + [$0] } ?? resources.loads.observers
    return try await LoadEventReporter.attend(item, observers) { () async throws(LoadError) in
      var misses = 0
      var plan = try plan(decided)
      while true {
        switch try await perform(plan) {
        case .image(let image): return image
        case .next(let next): plan = next
        case .outdated:
          guard !isDelivered else {
            throw LoadError(.cancelled, message: "the decision changed while the image was being read")
          }
          plan = try self.plan()
        case .missing:
          misses += 1
          guard misses < Self.maximumMisses else { throw placeholder(plan.resolution) }
          plan = try self.plan()
        }
      }
    }
  }

  /// Performs the steps of one plan in order.
  @PipelineActor private func perform(_ plan: Plan) async throws(LoadError) -> Step {
    var image: FetchedImage
    do throws(LoadError) {
      if !plan.fetches {
        // Memory, then disk: a cached image is shown, fresh or stale.
        guard let cached = await loader.cached(plan.variant, by: cache) else { return .missing }
        // The server may be asked whether the image is still valid, before it is shown or afterwards.
        guard let valid = try await revalidated(cached, plan) else { return .outdated }
        image = valid
      } else {
        // Join the load of the same image that runs, or start it.
        guard let fetched = try await fetched(plan) else { return .outdated }
        image = fetched
      }
    } catch {
      return .next(try fallback(after: error, plan))
    }
    // Make the pixels that the caller wants.
    var loaded = loaded(image, plan.variant, plan.resolution)
    if let failure = plan.failure { loaded.replaceOriginal(after: failure) }
    do throws(DecodeError) {
      loaded = try await decoded(loaded)
    } catch {
      return .next(try fallback(after: LoadError(error, of: plan.variant.url), plan))
    }
    // The file, for a caller that needs it.
    return .image(limits.waitsForStorage ? try await image.addingFile(to: loaded) : loaded)
  }

  // MARK: Plan

  /// Decides which image to show, and whether to fetch it.
  ///
  /// If the decision is the placeholder, the load ends here.
  @PipelineActor private func plan(
    _ decided: (resolution: Resolution, generation: Int?)? = nil
  ) throws(LoadError) -> Plan {
    let generation = decided.map(\.generation) ?? resources.factMonitor.generation
    var resolution = decided?.resolution ?? resolution()
    // System services know whether data is metered; ask them once a transfer is due.
    if decided == nil, resolution.decision.load != nil, loader.requireCost() {
      resolution = self.resolution()
    }
    LoadEventReporter.report(.decided(resolution))
    guard let role = resolution.decision.image.role, let variant = item[role] else {
      throw placeholder(resolution)
    }
    return Plan(
      variant: variant,
      resolution: resolution,
      situation: resolution.situation,
      generation: generation,
      fetches: resolution.decision.load != nil
    )
  }

  /// Decides which image to show with the current facts.
  ///
  /// - Parameter trustingNetwork: See ``ImageLoader/resolve(_:trustingNetwork:_:)``.
  /// - Returns: The decision; its ceiling is the original if the caller asked for that.
  package func resolution(trustingNetwork: Bool = false) -> Resolution {
    var resolution = loader.resolve([item], trustingNetwork: trustingNetwork, by: cache) { _ in facts }[0]
    if handle.requestsOriginal {
      let rule = resolution.decision.rule
      resolution.decision = Decision(ceiling: .original, in: resolution.situation, rule: rule)
      resolution.why = "the original was requested; \(resolution.why)"
    }
    if cache == .cacheOnly, resolution.decision.load != nil {
      resolution.decision.useOnlyCache()
      resolution.why = "only a cached image was requested; \(resolution.why)"
    }
    return resolution
  }

  /// Decides as if the item had no original.
  func withoutOriginal(trustingNetwork: Bool = false) -> Resolution {
    var resolution = resolution(trustingNetwork: trustingNetwork)
    resolution.situation[.original] = Presence.none
    let (situation, rule) = (resolution.situation, resolution.decision.rule)
    // A caller that asked for the original despite its cost also accepts the cost of the thumbnail.
    resolution.decision =
      handle.requestsOriginal
      ? Decision(ceiling: .original, in: situation, rule: rule) : loader.policy.current().decide(situation)
    if cache == .cacheOnly { resolution.decision.useOnlyCache() }
    return resolution
  }

  private func placeholder(_ resolution: Resolution) -> LoadError {
    var error = LoadError(.nothingToShow, message: "only the placeholder can be shown: \(resolution.why)")
    error.resolution = resolution
    return error
  }

  // MARK: Coalesce, disk, service, download, store

  /// Returns the image from the load of its key; nil if the decision changes meanwhile.
  @PipelineActor private func fetched(_ plan: Plan) async throws(LoadError) -> FetchedImage? {
    let variant = plan.variant
    if !limits.waitsForUnresponsiveHosts, let silence = resources.transport.retries.silence(of: variant.url) {
      throw silence
    }
    let identity = loader.identity.adapted(to: plan.situation, for: variant.url)
    let failureKey = identity.failureKey(of: variant.url)
    if isReload { resources.transport.retries.forget(failureKey) }
    let fields = isReload ? ImageDownload.endToEnd : HTTPFields()
    let (coalescer, caller) = (resources.loads.coalescer, Coalescer<FetchedImage>.Caller(handle))
    let key = identity.shared(loader.identity.key(of: variant.url), adding: fields) + cache.loadKeySuffix
    let decisionGuard = guarding(
      plan,
      identity,
      load: { coalescer.load(of: key) },
      release: { coalescer.release(caller, of: key) }
    )
    defer { decisionGuard.end() }
    let outcome = await coalescer.outcome(
      for: key,
      caller,
      progress: listener,
      onResponse: responseListener(plan)
    ) { load in
      // Disk: another load may have stored the image since the decision. The cache counts its misses here.
      if let image = await loader.cached(variant, by: cache), image.suits(identity) { return .success(image) }
      do throws(LoadError) {
        // Service: a running service loads the image instead, with its own retries.
        if let image = try await served(variant, load) { return .success(image) }
        // Schedule, download and store, with retries.
        let retries = resources.transport.retries
        let image = try await retries.perform(
          variant.url,
          key: failureKey,
          waitsForSilence: limits.waitsForUnresponsiveHosts
        ) { attempt async throws(LoadError) in
          let download = ImageDownload(
            resources: resources,
            variant: variant,
            key: loader.identity.key(of: variant.url),
            identity: identity,
            fields: fields,
            cache: cache,
            waitsForStorage: limits.waitsForStorage,
            load: load
          )
          return try await download.run(attempt).unconditional(variant.url)
        }
        return .success(image)
      } catch {
        return .failure(error.withHint)
      }
    }
    switch outcome {
    case .released: return nil
    case .failed(let error): throw error
    case .finished(var image, let isFirst):
      // Another caller's load transferred the bytes.
      if !isFirst, image.source == .network { image.source = .memory }
      return image
    }
  }

  private func responseListener(_ plan: Plan) -> InFlightLoad.ResponseListener? {
    guard let onResponse = reader?.onResponse else { return nil }
    return { response in
      onResponse(
        StreamingImage(
          variant: plan.variant,
          resolution: plan.resolution,
          response: response,
          note: plan.failure?.fallbackNote
        )
      )
    }
  }

  /// Returns the image from the service; nil if this program must load it itself.
  @PipelineActor private func served(
    _ variant: ImageVariant,
    _ load: InFlightLoad
  ) async throws(LoadError) -> FetchedImage? {
    guard cache == .default, let service = resources.transport.service,
      loader.identity.adapted(for: variant.url).own.fields.isEmpty
    else { return nil }
    let settings = resources.sources.settings.currentSettings()
    let removals = resources.storage.store.removals
    guard
      let image = try await service.load(
        variant,
        settings,
        from: resources.storage.store,
        on: resources.storage.reads,
        waitsForStorage: limits.waitsForStorage,
        load: load
      )
    else { return nil }
    if image.response != nil {
      let key = loader.identity.key(of: variant.url)
      resources.storage.memory.insert(image.kept(as: variant.role), for: key, since: removals)
    }
    // The image's server has responded, even if another client asked.
    if image.source == .network || load.countsForOtherClient {
      resources.transport.retries.responded(variant.url.origin)
      if !variant.url.isLoopback { resources.transport.retries.liveness.responded() }
    }
    return image
  }

  // MARK: The decision while the load waits

  /// Releases the caller when its decision no longer holds.
  ///
  /// It trusts the state that the network reports. It ignores whether data gets through, because this load
  /// may be the one that finds out.
  @PipelineActor private func guarding(
    _ plan: Plan,
    _ identity: RequestIdentity,
    load: @escaping @PipelineActor @Sendable () -> InFlightLoad?,
    release: @escaping @PipelineActor @Sendable () -> Void
  ) -> DecisionGuard {
    let holds: @PipelineActor @Sendable () -> Bool = {
      if plan.failure != nil {
        let instead = withoutOriginal(trustingNetwork: true)
        guard instead.decision.image == .thumbnail else { return false }
        return instead.decision.load == nil || limits.allowsFallback(instead)
      }
      let resolution = self.resolution(trustingNetwork: true)
      let image = resolution.decision.image
      guard image == plan.resolution.decision.image || image > plan.resolution.decision.image && isDelivered
      else {
        return false
      }
      // A request that is not sent yet must carry the fields that match the current facts.
      let isNew = load()?.isRequested != true && resolution.decision.load != nil
      return !isNew
        || loader.identity.adapted(to: resolution.situation, for: plan.variant.url).savesData
          == identity.savesData
    }
    return DecisionGuard(
      resources.factMonitor,
      handle,
      since: plan.generation,
      holds: holds,
      release: release
    )
  }

  // MARK: Revalidation

  /// Returns a cached image, after a revalidation if one must come first.
  ///
  /// - Returns: The image; nil if the decision changes meanwhile.
  /// - Throws: Only `cancelled`.
  @PipelineActor private func revalidated(
    _ cached: FetchedImage,
    _ plan: Plan
  ) async throws(LoadError) -> FetchedImage? {
    guard cache.revalidates, plan.revalidates, cached.source != .network, let response = cached.response
    else { return cached }
    var identity = loader.identity.adapted(to: plan.situation, for: plan.variant.url)
    let due = isReload ? .before : RevalidationPlan(response, by: identity, at: resources.clock())
    guard due != .none else { return cached }
    guard loader.mayFetch(plan.variant.role, in: plan.situation) else {
      let network = plan.situation.network.rawValue
      return isReload
        ? cached.adding(note: "not revalidated: it would not be fetched now (\(network))") : cached
    }
    if loader.requireCost() {
      let present = resolution()
      guard present.decision.image == plan.resolution.decision.image else { return nil }
      guard loader.mayFetch(plan.variant.role, in: present.situation) else { return cached }
      identity = loader.identity.adapted(to: present.situation, for: plan.variant.url)
    }
    let revalidation = RevalidationRequest(
      resources: resources,
      variant: plan.variant,
      key: loader.identity.key(of: plan.variant.url),
      identity: identity,
      shown: cached,
      isReload: isReload
    )
    let mayFetch: @PipelineActor @Sendable () -> Bool = {
      loader.mayFetch(plan.variant.role, in: resolution(trustingNetwork: true).situation)
    }
    let (revalidator, key) = (resources.loads.revalidator, revalidation.loadKey)
    let send: Revalidator.Perform = { load in
      await revalidation.perform(load, since: plan.generation, while: mayFetch)
    }
    guard due == .before, isReload || !resources.transport.retries.isRevalidationPaused(key) else {
      var image = cached
      if revalidator.begin(key, of: plan.variant.url, send) { image.revalidation = key }
      return image
    }
    let caller = Revalidator.Requests.Caller(handle)
    let decisionGuard = guarding(
      plan,
      identity,
      load: { nil },
      release: { revalidator.coalescer.release(caller, of: key) }
    )
    defer { decisionGuard.end() }
    switch await revalidator.outcome(key, of: plan.variant.url, caller, send) {
    case .released: return nil
    case .finished(let new?, _): return new
    case .finished(nil, _): return await loader.cached(plan.variant) ?? cached
    case .failed(let error):
      // A change of the network may also cancel the revalidation; only cancellation by the caller ends the
      // load.
      guard error.code != .cancelled || !Task.isCancelled else { throw error }
      return cached.adding(note: "shown without revalidation: \(error.message)")
    }
  }

  // MARK: Fallback

  /// Plans to load the thumbnail after the original failed, if the policy allows it.
  ///
  /// - Throws: The failure of the original, extended by that of the thumbnail if both failed.
  @PipelineActor private func fallback(after error: LoadError, _ plan: Plan) throws(LoadError) -> Plan {
    if let original = plan.failure {
      throw error.code == .cancelled ? error : original.adding(thumbnailFailure: error)
    }
    var failure = error
    failure.resolution = plan.resolution
    guard error.code != .cancelled, plan.variant.role == .original, let thumbnail = item.thumbnail,
      !isDelivered
    else { throw failure }
    guard !Task.isCancelled else {
      throw LoadError(.cancelled, url: plan.variant.url, message: "the load was cancelled")
    }
    let instead = withoutOriginal()
    let fetches = instead.decision.load != nil
    // An unreachable server cannot deliver the thumbnail either.
    let failedOrigin = failure.servers.first?.origin ?? plan.variant.url.origin
    let isDown = failure.isUnreachable && thumbnail.url.origin == failedOrigin
    guard instead.decision.image == .thumbnail, !fetches || !isDown && limits.allowsFallback(instead) else {
      throw failure
    }
    return Plan(
      variant: thumbnail,
      resolution: plan.resolution,
      situation: instead.situation,
      generation: resources.factMonitor.generation,
      fetches: fetches,
      revalidates: !isDown,
      boxedFailure: Boxed(failure)
    )
  }

  // MARK: The image

  package func loaded(
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
      freshness: fetched.freshness(at: resources.clock()),
      notes: fetched.notes
    )
    image.revalidation = fetched.revalidation
    return image
  }

  /// Adds the pixels that the caller wants.
  private func decoded(_ image: LoadedImage) async throws(DecodeError) -> LoadedImage {
    guard let request = pixels() else { return image }
    var image = image
    guard let decoding = resources.pixels else {
      image.notes.append("not decoded: the configuration of the loader has no decoder")
      return image
    }
    let bitmap = try await decoding.bitmap(image.bytes, of: image.variant.url, request, handle: handle)
    LoadEventReporter.report(.decoded(bitmap.size))
    (image.bitmap, image.request) = (bitmap, request)
    return image
  }
}

extension LoadedImage {
  /// Marks the image as the thumbnail in place of an original that failed.
  mutating func replaceOriginal(after failure: LoadError) {
    self.failure = failure
    notes.append(failure.fallbackNote)
  }
}

extension LoadError {
  /// The note on a thumbnail that replaces an original after this failure.
  package var fallbackNote: String { "shown in place of the original: \(message)" }

  /// The failure of an original, extended by the failure of its thumbnail.
  fileprivate func adding(thumbnailFailure other: LoadError) -> LoadError {
    var error = self
    error.message += "; the thumbnail failed as well: \(other.message)"
    error.servers += other.servers
    return error
  }

  /// The same error with a hint at a captive portal, if one is suspected.
  fileprivate var withHint: LoadError {
    guard suspectsCaptivePortal, !message.hasSuffix(CaptivePortal.words) else { return self }
    var error = self
    error.message += "; \(CaptivePortal.words)"
    return error
  }

  /// The failure to decode an image that arrived.
  fileprivate init(_ error: DecodeError, of url: ImageURL) {
    let code: Code =
      switch error.code {
      case .cancelled: .cancelled
      case .tooLarge: .tooLarge
      case .unavailable: .unavailable
      case .unknownFormat, .damaged: .notAnImage
      }
    self.init(code, url: url, message: "the image cannot be decoded: \(error.message)")
  }
}
