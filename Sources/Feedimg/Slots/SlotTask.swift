import FeedimgCache
import FeedimgModel
import FeedimgPipeline
import FeedimgPolicy
import FeedimgSystem
import Synchronization

/// All that is done for one binding of a slot, until the next one.
final class SlotTask: Sendable {
  struct State {
    var binding: SlotState.Binding?
    var task: Task<Void, Never>?
    var isRunning = false
    /// Whether the facts have changed while it ran.
    var isOutdated = false
    /// Whether pixels of another size were asked for while it ran.
    var isResized = false
    /// Whether bytes are coming that stop with it, unless others want them.
    var isReceiving = false
    var isOver = false
    /// Whether it was bound, for the first time or again, since it was decided last.
    var isJustBound = true
    /// How long to hold back before the network is asked, as while rows are flung past.
    var pause: Duration
    /// What is shown from the cache while its server is asked about it, until that has told.
    var asked: LoadedImage?
    /// Waits for what it tells, while nothing else runs.
    var following: Task<Void, Never>?
    /// Counts those that followed, and what ended them.
    var follows = 0
  }

  let loader: ImageLoader
  /// Knows the item, and what pixels are wanted, as they may be bound again.
  let screen: SlotScreen
  let handle: LoadHandle
  /// Has it decide anew when a server that failed is there again, while it is visible.
  let calls: CircuitSubscription
  /// As it was bound first.
  private let (item, pixels): (FeedItem, DecodeRequest?)
  private let facts: [String: String]
  /// Guards what runs; tasks are cancelled outside.
  ///
  /// The lock of the screen may be taken within.
  let state: Mutex<State>

  init(
    loader: ImageLoader,
    screen: SlotScreen,
    item: FeedItem,
    pixels: DecodeRequest? = nil,
    facts: [String: String],
    priority: LoadPriority,
    pause: Duration = .zero
  ) {
    self.loader = loader
    self.screen = screen
    (self.item, self.pixels, self.facts) = (item, loader.pixels == nil ? nil : pixels, facts)
    state = Mutex(State(pause: pause))
    let handle = LoadHandle(priority)
    self.handle = handle
    calls = CircuitSubscription(loader.retries) { handle.priority == .visible ? .visible : nil }
  }

  /// Takes over the screen, with what is in memory if that is decided, else with the placeholder.
  func bind() -> SlotState.Binding { screen.bind(loader.firstPresentation(of: item, pixels, facts)) }

  /// Gets the image.
  func begin(_ binding: SlotState.Binding) {
    state.withLock { $0.binding = binding }
    reconsider()
  }

  func cancel() {
    let (task, following) = state.withLock { state in
      state.isOver = true
      return (state.task.take(), state.following.take())
    }
    calls.close()
    task?.cancel()
    following?.cancel()
  }

  func setPriority(_ priority: LoadPriority) {
    let isSeenNow = priority == .visible && handle.priority != .visible
    handle.priority = priority
    // What had changed while it was out of sight.
    if isSeenNow { reconsider() }
  }

  func upgrade() {
    // Ends what runs for less than that.
    handle.askForOriginal()
    reconsider()
  }

  /// Decides anew, at once or as soon as what runs has ended.
  func reconsider() {
    let following = state.withLock { state -> Task<Void, Never>? in
      guard !state.isOver, let binding = state.binding else { return nil }
      guard !state.isRunning else {
        state.isOutdated = true
        return nil
      }
      (state.isRunning, state.isOutdated) = (true, false)
      state.task = Task { @PipelineActor in await self.run(binding) }
      state.follows += 1
      return state.following.take()
    }
    following?.cancel()
  }

  @PipelineActor private func run(_ binding: SlotState.Binding) async {
    repeat {
      guard let attempt = screen.renew(binding) else { return }
      await pursue(attempt)
      // What comes late of this attempt does not count.
      guard let rest = screen.renew(binding) else { return }
      guard goesOn(before: rest) else { return }
    } while true
  }

  /// Whether to decide anew; if not, what is shown is followed until then.
  private func goesOn(before rest: SlotState.Binding) -> Bool {
    state.withLock { state in
      // Within, so that who binds another size finds it running or finds it over.
      let lacksPixels = state.isResized && screen.latest?.isExact == false
      let goesOn = (state.isOutdated || lacksPixels) && !state.isOver
      (state.isOutdated, state.isResized, state.isRunning) = (false, false, goesOn)
      if lacksPixels { state.isJustBound = true }
      guard !goesOn, !state.isOver, let image = state.asked else { return goesOn }
      state.follows += 1
      let number = state.follows
      state.following = Task { @PipelineActor in await self.follow(image, rest, number) }
      return false
    }
  }

  /// Decides, shows the best that is cached, and gets what is decided.
  @PipelineActor private func pursue(_ attempt: SlotState.Binding) async {
    guard let shown = screen.latest else { return }
    calls.leave()
    var load = ImageLoad(loader: loader, item: shown.item, facts: facts)
    load.waitsForStorage = false
    (load.handle, load.waitsForSilentHosts) = (handle, false)
    load.progress = { [self] progress in
      state.withLock { $0.isReceiving = true }
      screen.update(attempt) { $0.progress = progress }
    }
    load.pixels = { [self] in
      state.withLock { $0.isReceiving = false }
      return screen.request(attempt)
    }
    let scans = presenter(attempt, shown)
    defer {
      scans?.stop()
      state.withLock { $0.isReceiving = false }
    }
    if let scans {
      // Who is out of sight can wait for the whole.
      load.onScan = { [handle] in if handle.priority == .visible { scans.look(at: $0) } }
    }
    let (isJustBound, pause) = state.withLock { state in
      defer { (state.isJustBound, state.pause) = (false, .zero) }
      return (state.isJustBound, state.pause)
    }
    let resolution = load.resolution()
    // What was there already may be out of date: the load sees to that.
    let isToBeChecked =
      isJustBound && resolution.decision.load == nil && resolution.decision.image == shown.shown
    guard isToBeChecked || isWorthwhile(resolution, beside: shown, isJustBound: isJustBound) else {
      let tried = await show(shown.lackingPixels, attempt, inPlaceOfWorse: true)
      return settle(attempt) {
        $0.resolution = resolution
        // Another size is wanted by now.
        $0.isLoading = tried != nil && !$0.isExact && $0.request != tried
        // What stood in for an original that failed is what is wanted now.
        if $0.shown >= resolution.decision.image { $0.error = nil }
      }
    }
    screen.update(attempt) {
      // What is complete stays so while it is checked.
      ($0.resolution, $0.isLoading, $0.error) = (resolution, !isToBeChecked || $0.isLoading, nil)
    }
    let small = resolution.decision.load == nil ? nil : shown.lackingPixels
    let waiting = await showCached(resolution, beside: shown, load, attempt) ?? small
    async let shownCached = show(waiting, attempt, inPlaceOfWorse: true)
    if pause > .zero, resolution.decision.load != nil, !isUnderWay(resolution, of: shown.item) {
      try? await loader.time.sleep(pause)
      // It may also have ended for want of a thread.
      guard !Task.isCancelled else { return }
    }
    do throws(LoadError) {
      let image = try await load.run()
      settle(attempt) {
        $0.take(image)
        ($0.resolution, $0.error) = (image.resolution, image.failure)
      }
      state.withLock { $0.asked = image.freshness?.isRevalidating == true ? image : nil }
      waitForServer(of: image, after: image.failure)
    } catch {
      guard error.code != .cancelled else { return }
      // The thumbnail may still be with the decoder.
      _ = await shownCached
      settle(attempt) { presentation in
        presentation.resolution = error.resolution ?? resolution
        presentation.error = error.code == .nothingToShow ? nil : error
      }
      waitForServer(after: error)
    }
  }

  /// Decides anew when the server of what could not be had is there again.
  @PipelineActor private func waitForServer(of image: LoadedImage? = nil, after failure: LoadError?) {
    if let failure { return calls.wait(after: failure) { [weak self] in self?.reconsider() } }
    if let image { calls.forget(image.variant.url) }
  }

  /// Shows what has come of the image before it is whole, if pixels are wanted.
  private func presenter(_ attempt: SlotState.Binding, _ shown: Presentation) -> ScanPresenter? {
    guard shown.request != nil, let desk = loader.pixels else { return nil }
    return ScanPresenter(
      desk,
      shown.item,
      handle,
      request: { [screen] in screen.request(attempt) },
      present: { [screen] scan in screen.update(attempt) { $0.scan = scan } }
    )
  }

  private func settle(_ attempt: SlotState.Binding, _ change: (inout Presentation) -> Void) {
    screen.update(attempt) { presentation in
      (presentation.isLoading, presentation.progress) = (false, nil)
      change(&presentation)
      // It may have been bound again with other words meanwhile.
      presentation.resolution?.item = presentation.item
    }
  }

  /// Shows the thumbnail that is cached while the original is on its way.
  ///
  /// - Returns: The thumbnail, if it has yet to be decoded before it can be shown.
  @PipelineActor private func showCached(
    _ resolution: Resolution,
    beside shown: Presentation,
    _ load: ImageLoad,
    _ attempt: SlotState.Binding
  ) async -> LoadedImage? {
    guard resolution.decision.load != nil, resolution.decision.show > shown.shown,
      let variant = resolution.decision.show.role.flatMap({ shown.item[$0] }), screen.isCurrent(attempt),
      let found = await loader.cached(variant)
    else { return nil }
    let image = load.loaded(found, variant, resolution)
    guard shown.request == nil else { return image }
    screen.update(attempt) { $0.content = .image(image) }
    return nil
  }

  /// Shows an image that is there, as soon as it has the pixels that are wanted; not at all where it cannot have them.
  ///
  /// - Parameters:
  ///   - image: The image; nothing happens without.
  ///   - attempt: For which binding of the view.
  ///   - inPlaceOfWorse: Whether what has come meanwhile stays, if that is as good and has the pixels that are wanted.
  /// - Returns: Which pixels it had or was to have; nil for none.
  @discardableResult
  private func show(
    _ image: LoadedImage?,
    _ attempt: SlotState.Binding,
    inPlaceOfWorse: Bool = false
  ) async -> DecodeRequest? {
    guard var image else { return nil }
    if let request = screen.request(attempt), image.bitmap == nil {
      let desk = loader.pixels
      guard let bitmap = try? await desk?.bitmap(image.bytes, of: image.variant.url, request, handle: handle)
      else {
        return request
      }
      (image.bitmap, image.request) = (bitmap, request)
    }
    screen.update(attempt) { [image] in
      let role = ShownImage(image.variant.role)
      let isAsGood = $0.shown > role || $0.shown == role && $0.isExact
      if !(inPlaceOfWorse && isAsGood) { $0.content = .image(image) }
    }
    return image.request
  }

  /// Shows the new version of a cached image that turned out to be out of date.
  @PipelineActor private func follow(_ image: LoadedImage, _ rest: SlotState.Binding, _ number: Int) async {
    if case .changed(let new) = await loader.revalidation(of: image) { await show(new, rest) }
    // Who was called off is followed anew.
    state.withLock { if $0.follows == number { $0.asked = nil } }
  }
}
