import FeedimgHTTPCache
import FeedimgModel
import FeedimgPipeline
import FeedimgPolicy
import FeedimgSystem
import Synchronization

/// The work for one binding of a slot, until the next binding.
final class SlotTask: Sendable {
  struct State {
    var binding: SlotState.Binding?
    /// Decides and loads, and then waits for the result of a revalidation.
    var task: Task<Void, Never>?
    /// Whether the task decides or loads.
    var isRunning = false
    /// Whether the facts changed while the task ran.
    var isOutdated = false
    /// Whether another size was requested while the task ran.
    var isResized = false
    /// Whether a transfer runs that stops with this task unless other callers joined it.
    var isReceiving = false
    var isOver = false
    /// Whether the item was bound, for the first time or again, since the last decision.
    var isJustBound = true
    /// How long to wait before using the network, as during fast scrolling.
    var pause: Duration
    /// The cached image that is shown while its server revalidates it.
    var revalidatedImage: LoadedImage?
  }

  let loader: ImageLoader
  /// Holds the item and the requested pixels, because a later binding may change them.
  let publisher: SlotPublisher
  let handle: LoadHandle
  /// Decides again when a failed server responds again, while the slot is visible.
  let circuitSubscription: CircuitSubscription
  private let facts: [String: String]
  /// Guards the running tasks; tasks are cancelled outside the lock.
  ///
  /// The lock of the publisher may be taken while this one is held.
  let state: Mutex<State>

  init(
    loader: ImageLoader,
    publisher: SlotPublisher,
    facts: [String: String],
    priority: LoadPriority,
    pause: Duration = .zero
  ) {
    self.loader = loader
    self.publisher = publisher
    self.facts = facts
    state = Mutex(State(pause: pause))
    let handle = LoadHandle(priority)
    self.handle = handle
    circuitSubscription = CircuitSubscription(loader.resources.transport.retries) {
      handle.priority == .visible ? .visible : nil
    }
  }

  /// Binds the slot to an item: shows the chosen image if memory holds it, else the placeholder.
  ///
  /// - Parameters:
  ///   - item: The item.
  ///   - pixels: The pixels to decode; nil for none.
  /// - Returns: The binding to pass to ``begin(_:)``.
  func bind(_ item: FeedItem, _ pixels: DecodeRequest?) -> SlotState.Binding {
    let first = loader.firstPresentation(of: item, pixels, facts)
    return publisher.change { $0.bind(first) }
  }

  /// Starts the load of the image.
  func begin(_ binding: SlotState.Binding) {
    state.withLock { $0.binding = binding }
    reconsider()
  }

  func cancel() {
    let task = state.withLock { state in
      state.isOver = true
      return state.task.take()
    }
    circuitSubscription.close()
    task?.cancel()
  }

  func setPriority(_ priority: LoadPriority) {
    let isSeenNow = priority == .visible && handle.priority != .visible
    handle.priority = priority
    // Facts may have changed while the slot was not visible.
    if isSeenNow { reconsider() }
  }

  func upgrade() {
    // This ends a running load that has a lower ceiling.
    handle.requestOriginal()
    reconsider()
  }

  /// Decides again, at once or as soon as the running load has ended.
  func reconsider() {
    let waiting = state.withLock { state -> Task<Void, Never>? in
      guard !state.isOver, let binding = state.binding else { return nil }
      guard !state.isRunning else {
        state.isOutdated = true
        return nil
      }
      (state.isRunning, state.isOutdated) = (true, false)
      defer { state.task = PipelineActor.task { await self.run(binding) } }
      return state.task
    }
    waiting?.cancel()
  }

  @PipelineActor private func run(_ binding: SlotState.Binding) async {
    while true {
      guard let attempt = publisher.change({ $0.renew(binding) }) else { return }
      await follow(attempt)
      // Late results of this attempt are ignored.
      guard let rest = publisher.change({ $0.renew(binding) }) else { return }
      guard !shouldRepeat() else { continue }
      return await followRevalidation(rest)
    }
  }

  /// Returns whether to decide again.
  private func shouldRepeat() -> Bool {
    state.withLock { state in
      // Read the publisher under the lock, so that a new size finds the task either running or ended.
      let lacksPixels = state.isResized && publisher.latest?.isExact == false
      let continues = (state.isOutdated || lacksPixels) && !state.isOver
      (state.isOutdated, state.isResized, state.isRunning) = (false, false, continues)
      if lacksPixels { state.isJustBound = true }
      return continues
    }
  }

  /// Waits for a running revalidation, and shows the new version of a cached image that was stale.
  @PipelineActor private func followRevalidation(_ rest: SlotState.Binding) async {
    if let image = state.withLock({ $0.revalidatedImage }),
      case .changed(let new) = await loader.revalidation(of: image)
    {
      await show(new, rest)
    }
    state.withLock { state in
      // Another run has replaced this one, and follows the image later.
      guard !state.isRunning, !Task.isCancelled else { return }
      // An ended task keeps the memory of its frames until its last reference is gone.
      (state.revalidatedImage, state.task) = (nil, nil)
    }
  }

  /// Decides, shows the best cached image, and loads the chosen one.
  @PipelineActor private func follow(_ attempt: SlotState.Binding) async {
    guard let shown = publisher.latest else { return }
    circuitSubscription.leave()
    var load = ImageLoad(loader: loader, item: shown.item, facts: facts)
    load.handle = handle
    (load.limits.waitsForStorage, load.limits.waitsForUnresponsiveHosts) = (false, false)
    let scans = presenter(attempt, shown)
    load.listener = { [self] progress, load, _ in
      guard progress.received.bytes > 0 else { return }
      state.withLock { $0.isReceiving = true }
      publisher.update(attempt) { $0.progress = progress }
      // A slot that is not visible can wait for the complete image.
      if handle.priority == .visible { scans?.look(at: load) }
    }
    load.pixels = { [self] in
      state.withLock { $0.isReceiving = false }
      return publisher.request(attempt)
    }
    defer {
      scans?.stop()
      state.withLock { $0.isReceiving = false }
    }
    let (isJustBound, pause) = state.withLock { state in
      defer { (state.isJustBound, state.pause) = (false, .zero) }
      return (state.isJustBound, state.pause)
    }
    let resolution = load.resolution()
    // The image was already present and may be stale; the load revalidates it.
    let isToBeChecked =
      isJustBound && resolution.decision.load == nil && resolution.decision.image == shown.shown
    guard isToBeChecked || isWorthwhile(resolution, beside: shown, isJustBound: isJustBound) else {
      let tried = await show(shown.imageToDecode, attempt, inPlaceOfWorse: true)
      return settle(attempt) {
        $0.resolution = resolution
        // Whether another size is requested by now.
        $0.isLoading = tried != nil && !$0.isExact && $0.request != tried
        // The thumbnail that replaced a failed original is now the chosen image.
        if $0.shown >= resolution.decision.image { $0.error = nil }
      }
    }
    publisher.update(attempt) {
      // A complete image stays complete while it is revalidated.
      ($0.resolution, $0.isLoading, $0.error) = (resolution, !isToBeChecked || $0.isLoading, nil)
    }
    let small = resolution.decision.load == nil ? nil : shown.imageToDecode
    let waiting = await showCached(resolution, beside: shown, load, attempt) ?? small
    async let shownCached = show(waiting, attempt, inPlaceOfWorse: true)
    if pause > .zero, resolution.decision.load != nil, !isUnderWay(resolution, of: shown.item) {
      try? await loader.resources.time.sleep(pause)
      // The sleep may also have ended because no thread was available.
      guard !Task.isCancelled else { return }
    }
    do throws(LoadError) {
      let image = try await load.run()
      settle(attempt) {
        $0.take(image)
        ($0.resolution, $0.error) = (image.resolution, image.failure)
      }
      state.withLock { $0.revalidatedImage = image.freshness?.isRevalidating == true ? image : nil }
      waitForServer(after: image.failure)
    } catch {
      // The loader may have cancelled the load, while the slot still shows the item.
      guard error.code != .cancelled || !Task.isCancelled else { return }
      // The thumbnail may still be decoding.
      _ = await shownCached
      settle(attempt) { presentation in
        presentation.resolution = error.resolution ?? resolution
        presentation.error = error.code == .nothingToShow ? nil : error
      }
      waitForServer(after: error)
    }
  }

  /// Decides again when the server of a failed image responds again.
  @PipelineActor private func waitForServer(after failure: LoadError?) {
    guard let failure else { return circuitSubscription.succeeded() }
    circuitSubscription.wait(after: failure) { [weak self] in self?.reconsider() }
  }

  /// Makes a presenter that shows the image before it is complete, if pixels are requested.
  private func presenter(_ attempt: SlotState.Binding, _ shown: Presentation) -> ScanPresenter? {
    guard shown.request != nil, let decoding = loader.resources.pixels else { return nil }
    return ScanPresenter(
      decoding,
      shown.item,
      handle,
      request: { [publisher] in publisher.request(attempt) },
      present: { [publisher] scan in publisher.update(attempt) { $0.scan = scan } }
    )
  }

  private func settle(_ attempt: SlotState.Binding, _ change: (inout Presentation) -> Void) {
    publisher.update(attempt) { presentation in
      (presentation.isLoading, presentation.progress) = (false, nil)
      change(&presentation)
      // The item may have been bound again with another text.
      presentation.resolution = presentation.resolution?.of(presentation.item)
    }
  }

  /// Shows the cached thumbnail while the original loads.
  ///
  /// - Returns: The thumbnail, if it must be decoded before it can be shown.
  @PipelineActor private func showCached(
    _ resolution: Resolution,
    beside shown: Presentation,
    _ load: ImageLoad,
    _ attempt: SlotState.Binding
  ) async -> LoadedImage? {
    guard resolution.decision.load != nil, resolution.decision.show > shown.shown,
      let variant = resolution.decision.show.role.flatMap({ shown.item[$0] }), publisher.isCurrent(attempt),
      let found = await loader.cached(variant)
    else { return nil }
    let image = load.loaded(found, variant, resolution)
    guard shown.request == nil else { return image }
    publisher.update(attempt) { $0.content = .image(image) }
    return nil
  }

  /// Shows an available image once its pixels are decoded; if decoding fails, shows nothing.
  ///
  /// With `inPlaceOfWorse`, an image shown meanwhile stays if it is as good and has the wanted pixels.
  ///
  /// - Returns: The pixels that the image has or should have; nil for none.
  @discardableResult
  private func show(
    _ image: LoadedImage?,
    _ attempt: SlotState.Binding,
    inPlaceOfWorse: Bool = false
  ) async -> DecodeRequest? {
    guard var image else { return nil }
    if let request = publisher.request(attempt), image.bitmap == nil {
      let decoding = loader.resources.pixels
      guard
        let bitmap = try? await decoding?.bitmap(image.bytes, of: image.variant.url, request, handle: handle)
      else {
        return request
      }
      (image.bitmap, image.request) = (bitmap, request)
    }
    publisher.update(attempt) { [image] in
      let role = ShownImage(image.variant.role)
      let isAsGood = $0.shown > role || $0.shown == role && $0.isExact
      if !(inPlaceOfWorse && isAsGood) { $0.content = .image(image) }
    }
    return image.request
  }
}

/// Decides when a better image is worth its bytes.
extension SlotTask {
  /// Returns whether the decision is better than the shown image and may replace it.
  ///
  /// An item that was just bound waits for no network event.
  func isWorthwhile(
    _ resolution: Resolution,
    beside shown: Presentation,
    isJustBound: Bool
  ) -> Bool {
    guard resolution.decision.image > shown.shown else { return false }
    guard let image = shown.image, resolution.decision.load != nil, !handle.requestsOriginal else {
      return true
    }
    // An upgrade costs data, so it is only for an image that the user sees or is about to see. The scheduler
    // starts it after the images of visible slots.
    guard handle.priority >= .near else { return false }
    return isJustBound
      || UpgradeRule.isDue(
        insteadOf: shown.shown,
        from: image.resolution.situation,
        in: resolution.situation,
        by: loader.policy.current()
      )
  }
}

extension SlotTask {
  /// How long a transfer continues after its slot leaves, so that another view can join it.
  ///
  /// A detail view, for example, takes over the image of a row. The time is three frames: the detail view is
  /// bound in the same turn of the event loop that clears the row.
  static let grace: Duration = .milliseconds(50)

  /// Continues if the same pictures are bound again; the load keeps running.
  ///
  /// Another size is decoded after the current one; if several follow, only the latest is.
  ///
  /// - Returns: False if a new task must start: the pictures differ, or the load failed or ended as a
  ///   placeholder.
  func bindAgain(
    _ item: FeedItem,
    _ pixels: DecodeRequest?,
    _ facts: [String: String],
    _ priority: LoadPriority
  ) -> Bool {
    let binding = state.withLock { $0.isOver ? nil : $0.binding }
    guard let binding, let shown = publisher.latest,
      shown.canContinue(as: Presentation(item: item, pixels, facts: facts))
    else { return false }
    guard (shown.item, shown.request) != (item, pixels) else {
      guard publisher.isCurrent(binding) else { return false }
      continueOrRestart(priority, isNewSize: false)
      return true
    }
    let first = loader.firstPresentation(of: item, pixels, facts)
    guard publisher.change({ $0.bindAgain(binding, first) }) else { return false }
    continueOrRestart(priority, isNewSize: shown.request != pixels)
    return true
  }

  /// Lets the running task go on, or starts it again.
  private func continueOrRestart(_ priority: LoadPriority, isNewSize: Bool) {
    let continues = state.withLock { state in
      // A running task reads the size just before decoding, and continues if it used another one. Without a new
      // size it may be about to end, so the presentation decides. A task can also end because no thread was
      // available.
      let continues = state.isRunning && (isNewSize || publisher.latest?.isLoading != false)
      if !continues { state.isJustBound = true } else if isNewSize { state.isResized = true }
      return continues
    }
    guard !continues else { return setPriority(priority) }
    handle.priority = priority
    reconsider()
  }

  /// Ends the task because another item is bound.
  ///
  /// If a transfer runs, the task ends after a moment, so that another slot can join the transfer.
  func leave() {
    guard state.withLock({ $0.isReceiving && !$0.isOver }) else { return cancel() }
    circuitSubscription.close()
    Task { [self] in
      try? await loader.resources.time.sleep(Self.grace)
      cancel()
    }
  }

  /// Returns whether the chosen image is already being transferred, so that a pause would save no data.
  func isUnderWay(_ resolution: Resolution, of item: FeedItem) -> Bool {
    guard let variant = resolution.decision.image.role.flatMap({ item[$0] }) else { return false }
    return loader.resources.loads.transfers.present.contains {
      $0.role != nil && $0.url.key == variant.url.key
    }
  }
}

extension ImageLoader {
  /// Returns the presentation of an item that is available without waiting.
  ///
  /// - Returns: The image or thumbnail if the policy chooses it and memory holds it; otherwise the
  ///   placeholder.
  func firstPresentation(
    of item: FeedItem,
    _ pixels: DecodeRequest?,
    _ facts: [String: String]
  ) -> Presentation {
    let first = firstImage(of: item, pixels, facts)
    guard let pixels, first.image == nil else { return first }
    return first.drawingPlaceholder(pixels)
  }

  private func firstImage(
    of item: FeedItem,
    _ pixels: DecodeRequest?,
    _ facts: [String: String]
  ) -> Presentation {
    var first = Presentation(item: item, pixels, facts: facts)
    let inMemory = [item.original, item.thumbnail].compactMap { $0 }.filter {
      resources.storage.memory.contains(identity.key(of: $0.url))
    }
    guard !inMemory.isEmpty else { return first }
    let load = ImageLoad(loader: self, item: item, facts: facts)
    let resolution = load.resolution()
    let decision = resolution.decision
    let role = decision.load == nil ? decision.image.role : decision.show.role
    guard let variant = inMemory.first(where: { $0.role == role }),
      let kept = resources.storage.memory[identity.key(of: variant.url)]
    else { return first }
    var image = load.loaded(FetchedImage(kept, from: .memory), variant, resolution)
    if let request = pixels {
      guard let bitmap = resources.pixels?.kept(of: variant.url, request) else { return first }
      (image.bitmap, image.request) = (bitmap, request)
    }
    first.resolution = resolution
    first.content = .image(image)
    first.isLoading = decision.load != nil
    return first
  }
}
