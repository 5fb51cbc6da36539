import FeedimgCache
import FeedimgModel
import FeedimgPolicy

/// One load of one caller, from the decision to the image.
///
/// ``perform(_:)`` is the whole of it, step by step. A step returns a value; nothing calls back into an earlier step. When
/// the facts change so that another image is decided, the load begins again with a new plan.
struct ImageLoad: Sendable {
  /// Hears of progress, also of the head of a response before any byte.
  ///
  /// Bytes count with the first caller.
  typealias Accounting = @Sendable (LoadProgress, _ isFirst: Bool) -> Void

  let loader: ImageLoader
  let item: FeedItem
  let facts: [String: String]
  var handle = LoadHandle(.visible)
  /// Whether to ask the server first about an image that is cached.
  var isReload = false
  /// The pixels to make of the image, asked when it is there; nil for none.
  var pixels: @Sendable () -> DecodeRequest? = { nil }

  // What the caller hears:
  var progress: (@Sendable (LoadProgress) -> Void)?
  var accounting: Accounting?
  /// Called as soon as the image can be read while it arrives.
  var onArrival: (@Sendable (ArrivingImage) -> Void)?
  /// Called with ``progress``, for callers that show scans.
  var onScan: (@Sendable (InFlightLoad) -> Void)?
  /// Hears of the steps of this load, beside the observers of the loader.
  var observer: (any LoadObserving)?

  // How the caller bounds it:
  /// Whether to wait for a host that does not respond; a caller that subscribes to its circuit need not.
  var waitsForSilentHosts = true
  /// Whether a thumbnail may be fetched in place of an original that failed.
  var allowsFallback: @Sendable (Resolution) -> Bool = { _ in true }
  /// Whether a reader has bytes of the image already, so that nothing can take its place.
  var isHandedOn: @Sendable () -> Bool = { false }
  /// A decision that was just made, with the generation of the facts before it.
  var decided: (resolution: Resolution, generation: Int?)?

  /// What to do, by one decision.
  struct Plan: Sendable {
    let variant: ImageVariant
    let resolution: Resolution
    /// The generation of the facts before the decision; nil where changes are not reported.
    let generation: Int?
    /// Whether the image comes from a server; otherwise it is cached.
    let fetches: Bool
    /// Why the original could not be loaded, where this is the thumbnail in its place.
    var failure: LoadError?
    /// Whether the server of the cached image may be asked.
    var revalidates = true
  }

  /// What following a plan came to.
  enum Step: Sendable {
    case image(LoadedImage)
    /// The original failed: the thumbnail takes its place.
    case next(Plan)
    /// Another image is decided by now.
    case outdated
    /// The cache does not have what it promised.
    case missing
  }

  /// A cached image that turns out damaged changes the facts; the load is planned again so often.
  private static let greatestMisses = 3

  /// Loads the image.
  @PipelineActor func run() async throws(LoadError) -> LoadedImage {
    let observers = observer.map { loader.observers + [$0] } ?? loader.observers
    return try await LoadWitness.attend(item, observers) { () async throws(LoadError) in
      var misses = 0
      var plan = try plan(decided)
      while true {
        switch try await perform(plan) {
        case .image(let image): return image
        case .next(let next): plan = next
        case .outdated:
          guard !isHandedOn() else {
            throw LoadError(.cancelled, message: "no caller waits for another image")
          }
          plan = try self.plan()
        case .missing:
          misses += 1
          guard misses < Self.greatestMisses else { throw placeholder(plan.resolution) }
          plan = try self.plan()
        }
      }
    }
  }

  /// Follows one plan from top to bottom.
  @PipelineActor private func perform(_ plan: Plan) async throws(LoadError) -> Step {
    var image: FetchedImage
    do throws(LoadError) {
      if !plan.fetches {
        // Memory, else the disk: what is cached is the image, fresh or stale.
        guard let cached = await loader.cached(plan.variant) else { return .missing }
        // Its server may be asked whether it is still valid, meanwhile or before.
        guard let valid = try await revalidated(cached, plan) else { return .outdated }
        image = valid
      } else {
        // Join the load of the same image that runs, or become it.
        guard let fetched = try await fetched(plan) else { return .outdated }
        image = fetched
      }
    } catch {
      return .next(try fallback(after: error, plan))
    }
    // The pixels that the caller wants.
    do throws(DecodeError) {
      return .image(try await decoded(loaded(image, plan)))
    } catch {
      return .next(try fallback(after: LoadError(error, of: plan.variant.url), plan))
    }
  }

  // MARK: Plan

  /// Decides which image to show, and from where it comes.
  ///
  /// The placeholder ends the load here.
  @PipelineActor private func plan(
    _ decided: (resolution: Resolution, generation: Int?)? = nil
  ) throws(LoadError) -> Plan {
    let generation = decided.map(\.generation) ?? loader.facts.generation
    var resolution = decided?.resolution ?? resolution()
    // Services know what data costs, and are asked once something is to be transferred.
    if decided == nil, resolution.decision.load != nil, loader.askAboutCost() {
      resolution = self.resolution()
    }
    LoadWitness.tell(.decided(resolution))
    guard let role = resolution.decision.image.role, let variant = item[role] else {
      throw placeholder(resolution)
    }
    return Plan(
      variant: variant,
      resolution: resolution,
      generation: generation,
      fetches: resolution.decision.load != nil
    )
  }

  /// The decision now.
  ///
  /// - Parameter trustingNetwork: See ``ImageLoader/resolve(_:trustingNetwork:_:)``.
  /// - Returns: With the laws applied, also where the original was asked for.
  func resolution(trustingNetwork: Bool = false) -> Resolution {
    var resolution = loader.resolve([item], trustingNetwork: trustingNetwork) { _ in facts }[0]
    guard handle.asksForOriginal else { return resolution }
    let rule = resolution.decision.rule
    resolution.decision = Decision(ceiling: .original, in: resolution.situation, rule: rule)
    resolution.why = "asked for; \(resolution.why)"
    return resolution
  }

  /// The decision now, as if the item had no original.
  func withoutOriginal(trustingNetwork: Bool = false) -> Resolution {
    var resolution = resolution(trustingNetwork: trustingNetwork)
    resolution.situation[.original] = Presence.none
    let (situation, rule) = (resolution.situation, resolution.decision.rule)
    // A caller that wants the original at any price wants the thumbnail as well.
    resolution.decision =
      handle.asksForOriginal
      ? Decision(ceiling: .original, in: situation, rule: rule) : loader.policy.current().decide(situation)
    return resolution
  }

  private func placeholder(_ resolution: Resolution) -> LoadError {
    var error = LoadError(.nothingToShow, message: "only the placeholder can be shown: \(resolution.why)")
    error.resolution = resolution
    return error
  }

  // MARK: Coalesce, disk, service, download, store

  /// The image from the load of its key; nil where another image is decided meanwhile.
  @PipelineActor private func fetched(_ plan: Plan) async throws(LoadError) -> FetchedImage? {
    let variant = plan.variant
    if !waitsForSilentHosts, let silence = loader.retries.silence(of: variant.url) { throw silence }
    if isReload { loader.retries.forget(variant.url) }
    // A fallback may be requested long after the decision.
    let identity =
      plan.failure == nil ? loader.identity.asking(in: plan.resolution.situation) : currentIdentity
    let fields = isReload ? ImageDownload.endToEnd : HTTPFields()
    let waiter = loader.coalescer.waiter()
    let decision = guarding(plan, waiter, identity)
    defer { decision.end() }
    let outcome = await loader.coalescer.outcome(
      for: identity.shared(variant.url.key, asking: fields),
      waiter,
      handle: handle,
      progress: listener,
      onResponse: responseListener(plan)
    ) { load in
      // Disk: another load of the image may have ended since the decision.
      if let image = await loader.cached(variant), image.suits(identity) { return .success(image) }
      do throws(LoadError) {
        // Service: a running one loads the image instead, with its own retries.
        if let image = try await served(variant, load) { return .success(image) }
        // Schedule, download and store, several times if need be.
        let retries = loader.retries
        let image = try await retries.perform(variant.url, waitsForSilence: waitsForSilentHosts) {
          attempt async throws(LoadError) in
          let download = ImageDownload(
            loader: loader,
            variant: variant,
            identity: identity,
            fields: fields,
            load: load
          )
          guard case .image(let image) = try await download.run(attempt) else {
            throw LoadError(
              .malformed,
              url: variant.url,
              message: "unexpected 304 for an unconditional request"
            )
          }
          return image
        }
        return .success(image)
      } catch {
        return .failure(error.withHint)
      }
    }
    switch outcome {
    case .released: return nil
    case .failed(let error): throw error
    case .answered(var image, let isFirst):
      // A caller that joined moved no byte.
      if !isFirst, image.source == .network { image.source = .memory }
      return image
    }
  }

  /// What requests say now.
  private var currentIdentity: RequestIdentity {
    let reader = loader.look().reader
    let isLocal = reader.isLocal(item)
    return loader.identity.asking(
      in: reader.situation(original: .remote, thumbnail: .remote, size: nil, isLocal: isLocal)
    )
  }

  private var listener: InFlightLoad.Listener? {
    guard progress != nil || accounting != nil || onScan != nil else { return nil }
    return { [progress, accounting, onScan] told, load, isFirst in
      accounting?(told, isFirst)
      guard told.received.bytes > 0 else { return }
      progress?(told)
      onScan?(load)
    }
  }

  private func responseListener(_ plan: Plan) -> InFlightLoad.ResponseListener? {
    guard let onArrival else { return nil }
    return { response in
      onArrival(ArrivingImage(plan.variant, plan.resolution, response, note: plan.failure?.fallbackNote))
    }
  }

  /// The image from the service; nil where the program loads it itself.
  @PipelineActor private func served(
    _ variant: ImageVariant,
    _ load: InFlightLoad
  ) async throws(LoadError) -> FetchedImage? {
    guard !isReload, let service = loader.service else { return nil }
    let settings = loader.settings.currentSettings()
    guard
      let image = try await service.load(variant, settings, from: loader.store, on: loader.disk, load: load)
    else { return nil }
    if image.response != nil { loader.memory.insert(image.kept(as: variant.role), for: variant.url.key) }
    // Its server has responded, whichever client asked.
    if image.source == .network || load.countsElsewhere { loader.retries.responded(variant.url.origin) }
    return image
  }

  // MARK: The decision while the load waits

  /// Releases a caller when the decision that it follows no longer holds.
  ///
  /// What the network says counts here, not whether anything gets through: this load may be what finds out.
  @PipelineActor private func guarding(
    _ plan: Plan,
    _ waiter: CoalescerState.Waiter,
    _ identity: RequestIdentity
  ) -> DecisionGuard {
    let coalescer = loader.coalescer
    let holds: @PipelineActor @Sendable () -> Bool = {
      if plan.failure != nil {
        let instead = withoutOriginal(trustingNetwork: true)
        guard instead.decision.image == .thumbnail else { return false }
        return instead.decision.load == nil || allowsFallback(instead)
      }
      let resolution = self.resolution(trustingNetwork: true)
      let image = resolution.decision.image
      guard image == plan.resolution.decision.image || image > plan.resolution.decision.image && isHandedOn()
      else {
        return false
      }
      // A request that has yet to go out says what holds then.
      let isNew = coalescer.load(of: waiter)?.isRequested != true && resolution.decision.load != nil
      return !isNew || loader.identity.asking(in: resolution.situation).savesData == identity.savesData
    }
    return DecisionGuard(loader.facts, handle, since: plan.generation, holds: holds) {
      coalescer.release(waiter)
    }
  }

  // MARK: Revalidation

  /// A cached image after its server was asked about it, where that is due and comes first.
  ///
  /// - Returns: Nil where another image is decided meanwhile.
  /// - Throws: `cancelled` alone.
  @PipelineActor private func revalidated(
    _ cached: FetchedImage,
    _ plan: Plan
  ) async throws(LoadError) -> FetchedImage? {
    guard plan.revalidates, cached.source != .network, let response = cached.response else { return cached }
    var identity = loader.identity.asking(in: plan.resolution.situation)
    let due = isReload ? .before : RevalidationPlan(response, by: identity, at: loader.clock())
    guard due != .none else { return cached }
    guard loader.mayFetch(plan.variant.role, in: plan.resolution.situation) else {
      let network = plan.resolution.situation.network.rawValue
      return isReload ? cached.noting("not asked about, as it would not be fetched now (\(network))") : cached
    }
    if loader.askAboutCost() {
      let present = resolution()
      guard present.decision.image == plan.resolution.decision.image else { return nil }
      guard loader.mayFetch(plan.variant.role, in: present.situation) else { return cached }
      identity = loader.identity.asking(in: present.situation)
    }
    let revalidation = Revalidation.Request(
      loader: loader,
      variant: plan.variant,
      identity: identity,
      shown: cached,
      isReload: isReload
    )
    let mayFetch: @PipelineActor @Sendable () -> Bool = {
      loader.mayFetch(plan.variant.role, in: resolution(trustingNetwork: true).situation)
    }
    guard due == .before, isReload || !loader.revalidator.isResting(revalidation.key) else {
      var image = cached
      if loader.revalidator.begin(revalidation, since: plan.generation, while: mayFetch) {
        image.revalidation = revalidation.key
      }
      return image
    }
    let waiter = loader.revalidator.coalescer.waiter()
    let holds: @PipelineActor @Sendable () -> Bool = {
      plan.failure == nil
        ? resolution(trustingNetwork: true).decision.image == plan.resolution.decision.image
        : withoutOriginal(trustingNetwork: true).decision.image == .thumbnail
    }
    let decision = DecisionGuard(loader.facts, handle, since: plan.generation, holds: holds) {
      loader.revalidator.coalescer.release(waiter)
    }
    defer { decision.end() }
    switch await loader.revalidator.outcome(
      of: revalidation,
      waiter,
      handle,
      since: plan.generation,
      while: mayFetch
    ) {
    case .released: return nil
    case .answered(let new?, _): return new
    case .answered(nil, _): return await loader.cached(plan.variant) ?? cached
    case .failed(let error):
      // The network may have ended it; only the caller's own cancellation ends the load.
      guard error.code != .cancelled || !Task.isCancelled else { throw error }
      return cached.noting("shown as it was: \(error.message)")
    }
  }

  // MARK: Fallback

  /// The plan for the thumbnail in place of an original that failed, where the policy would show it without the original.
  ///
  /// - Throws: The failure, where there is no such plan; it tells of the thumbnail's failure as well.
  @PipelineActor private func fallback(after error: LoadError, _ plan: Plan) throws(LoadError) -> Plan {
    if let original = plan.failure {
      throw error.code == .cancelled ? error : original.telling(ofThumbnail: error)
    }
    var failure = error
    failure.resolution = plan.resolution
    guard error.code != .cancelled, plan.variant.role == .original, let thumbnail = item.thumbnail,
      !isHandedOn()
    else { throw failure }
    guard !Task.isCancelled else {
      throw LoadError(.cancelled, url: plan.variant.url, message: "the load was cancelled")
    }
    let instead = withoutOriginal()
    let fetches = instead.decision.load != nil
    // A server that cannot be reached has no thumbnail either.
    let isDown =
      failure.isUnreachable && thumbnail.url.origin == failure.origin ?? plan.variant.url.origin
    guard instead.decision.image == .thumbnail, !fetches || !isDown && allowsFallback(instead) else {
      throw failure
    }
    return Plan(
      variant: thumbnail,
      resolution: plan.resolution,
      generation: loader.facts.generation,
      fetches: fetches,
      failure: failure,
      revalidates: !isDown
    )
  }

  // MARK: The image

  func loaded(_ fetched: FetchedImage, _ plan: Plan) -> LoadedImage {
    var image = loaded(fetched, plan.variant, plan.resolution)
    if let failure = plan.failure { image.replaceOriginal(after: failure) }
    return image
  }

  func loaded(_ fetched: FetchedImage, _ variant: ImageVariant, _ resolution: Resolution) -> LoadedImage {
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

  /// The image with the pixels that the caller wants.
  private func decoded(_ image: LoadedImage) async throws(DecodeError) -> LoadedImage {
    guard let request = pixels() else { return image }
    var image = image
    guard let desk = loader.pixels else {
      image.notes.append("not decoded: the configuration of the loader has no decoder")
      return image
    }
    let bitmap = try await desk.bitmap(image.bytes, of: image.variant.url, request, handle: handle)
    LoadWitness.tell(.decoded(bitmap.size))
    (image.bitmap, image.request) = (bitmap, request)
    return image
  }
}

extension LoadedImage {
  /// Marks it as the thumbnail in place of an original that failed.
  mutating func replaceOriginal(after failure: LoadError) {
    self.failure = failure
    notes.append(failure.fallbackNote)
  }
}

extension LoadError {
  /// The note with which a thumbnail is shown in place of an original that failed so.
  var fallbackNote: String { "shown in place of the original: \(message)" }

  /// Whether another request soon would not help.
  var isFinal: Bool {
    switch code {
    case .status: status.map { [401, 403, 404, 410, 451].contains($0) } ?? false
    case .notAnImage, .tooLarge, .tooManyRedirects, .forbiddenRedirect, .forbiddenAddress: true
    default: false
    }
  }

  /// Whether the server cannot be reached, or not safely, whatever is requested.
  fileprivate var isUnreachable: Bool {
    switch code {
    case .unknownHost, .connection, .timeout, .security: !isFromOldPath
    default: false
    }
  }

  /// The failure of an original whose thumbnail failed as well.
  fileprivate func telling(ofThumbnail other: LoadError) -> LoadError {
    var error = self
    error.message += "; the thumbnail failed as well: \(other.message)"
    error.thumbnailErrors = [other]
    return error
  }

  /// The same error with a hint at a captive portal, where one may be behind it.
  fileprivate var withHint: LoadError {
    guard suspectsCaptivePortal, !message.hasSuffix(CaptivePortal.words) else { return self }
    var error = self
    error.message += "; \(CaptivePortal.words)"
    return error
  }

  /// The failure of an image that came and has no pixels.
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
