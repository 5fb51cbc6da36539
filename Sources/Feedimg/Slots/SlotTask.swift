import FeedimgCache
import FeedimgModel
import FeedimgPolicy
import Synchronization

/// All that is done for one binding of a slot, until the next one.
final class SlotTask: Sendable {
  private struct State {
    /// With the latest words about it.
    var item: FeedItem
    var binding: SlotState.Binding?
    var task: Task<Void, Never>?
    var isRunning = false
    /// Whether the facts have changed while it ran.
    var isOutdated = false
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
  private let screen: SlotScreen
  /// Nil where the bytes of images are wanted alone.
  private let pixels: DecodeRequest?
  private let facts: [String: String]
  let wish: LoadWish
  /// Has it decide anew when a server that failed is there again, while it is visible.
  private let calls: WakeCalls
  /// Guards what runs; tasks are cancelled outside.
  private let state: Mutex<State>

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
    self.pixels = loader.pixels == nil ? nil : pixels
    self.facts = facts
    state = Mutex(State(item: item, pause: pause))
    let wish = LoadWish(priority)
    self.wish = wish
    calls = WakeCalls(loader.failures) { wish.priority == .visible ? .visible : nil }
  }

  private var item: FeedItem { state.withLock { $0.item } }

  /// Takes over the screen, with what is in memory if that is decided, else with the placeholder.
  func bind() -> SlotState.Binding { screen.bind(loader.firstPresentation(of: item, pixels, facts)) }

  /// Gets the image.
  func begin(_ binding: SlotState.Binding) {
    state.withLock { $0.binding = binding }
    reconsider()
  }

  /// Whether the same images are bound, and come or are shown; what has failed, or ended as a placeholder, may be begun anew.
  func covers(_ item: FeedItem, _ pixels: DecodeRequest?, _ facts: [String: String]) -> Bool {
    let pixels = loader.pixels == nil ? nil : pixels
    guard self.item.hasSameImages(as: item), self.pixels == pixels, self.facts == facts else { return false }
    let binding = state.withLock { $0.isOver ? nil : $0.binding }
    guard let binding, screen.isCurrent(binding), let shown = screen.latest else { return false }
    return shown.isLoading || shown.image != nil && shown.error == nil
  }

  /// Goes on although the same was bound again: what comes is not disturbed, and what is shown may be out of date.
  ///
  /// - Parameters:
  ///   - item: The same images, perhaps with other words about them.
  ///   - priority: How urgent it is from now on.
  func bindAgain(_ item: FeedItem, _ priority: LoadPriority) {
    let binding = state.withLock { state in
      defer { state.item = item }
      return state.item == item ? nil : state.binding
    }
    if let binding { screen.describe(binding) { [pixels] in $0.describe(by: item, pixels) } }
    // What is seen counts where something runs, as that may be about to end; it may also have ended for want of a thread.
    let isRunning = state.withLock { $0.isRunning }
    guard !isRunning || screen.latest?.isLoading == false else { return setPriority(priority) }
    state.withLock { $0.isJustBound = true }
    wish.priority = priority
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
    let isSeenNow = priority == .visible && wish.priority != .visible
    wish.priority = priority
    // What had changed while it was out of sight.
    if isSeenNow { reconsider() }
  }

  func upgrade() {
    // Ends what runs for less than that.
    wish.askForOriginal()
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
      state.task = Task(executorPreference: loader.disk) { await self.run(binding) }
      state.follows += 1
      return state.following.take()
    }
    following?.cancel()
  }

  @concurrent private func run(_ binding: SlotState.Binding) async {
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
      let goesOn = state.isOutdated && !state.isOver
      (state.isOutdated, state.isRunning) = (false, goesOn)
      guard !goesOn, !state.isOver, let image = state.asked else { return goesOn }
      state.follows += 1
      let number = state.follows
      state.following = Task(executorPreference: loader.disk) { await self.follow(image, rest, number) }
      return false
    }
  }

  /// Decides, shows the best that is cached, and gets what is decided.
  private func pursue(_ attempt: SlotState.Binding) async {
    guard let shown = screen.latest else { return }
    calls.leave()
    var operation = LoadOperation(loader: loader, item: item, facts: facts) { [screen] progress in
      screen.update(attempt) { $0.progress = progress }
    }
    (operation.wish, operation.pixels, operation.isPatient) = (wish, pixels, false)
    let scans = presenter(attempt)
    defer { scans?.stop() }
    if let scans {
      // Who is out of sight can wait for the whole.
      operation.onArrival = { [wish] in if wish.priority == .visible { scans.look(at: $0) } }
    }
    let (isJustBound, pause) = state.withLock { state in
      defer { (state.isJustBound, state.pause) = (false, .zero) }
      return (state.isJustBound, state.pause)
    }
    let resolution = operation.resolution()
    // What was there already may be out of date: the load sees to that.
    let isToBeChecked =
      isJustBound && resolution.decision.load == nil && resolution.decision.image == shown.shown
    guard isToBeChecked || isWorthwhile(resolution, beside: shown, isJustBound: isJustBound) else {
      return settle(attempt) {
        $0.resolution = resolution
        // What stood in for an original that failed is what is wanted now.
        if $0.shown >= resolution.decision.image { $0.error = nil }
      }
    }
    screen.update(attempt) {
      // What is complete stays so while it is checked.
      ($0.resolution, $0.isLoading, $0.error) = (resolution, !isToBeChecked || $0.isLoading, nil)
    }
    let waiting = showCached(resolution, beside: shown, operation, attempt)
    async let shownCached: Void = show(waiting, attempt, inPlaceOfWorse: true)
    if pause > .zero, resolution.decision.load != nil {
      guard (try? await loader.time.sleep(pause)) != nil else { return }
    }
    do throws(LoadError) {
      let image = try await operation.run()
      settle(attempt) {
        ($0.content, $0.resolution, $0.error) = (.image(image), image.resolution, image.failure)
      }
      state.withLock { $0.asked = image.freshness?.isRevalidating == true ? image : nil }
      waitForServer(of: image, after: image.failure)
    } catch {
      guard error.code != .cancelled else { return }
      // The thumbnail may still be with the decoder.
      await shownCached
      settle(attempt) { presentation in
        presentation.resolution = error.resolution ?? resolution
        presentation.error = error.code == .nothingToShow ? nil : error
      }
      waitForServer(after: error)
    }
  }

  /// Decides anew when the server of what could not be had is there again.
  private func waitForServer(of image: LoadedImage? = nil, after failure: LoadError?) {
    if let failure { return calls.wait(after: failure) { [weak self] in self?.reconsider() } }
    if let image { calls.forget(image.variant.url) }
  }

  /// Shows what has come of the image before it is whole, if pixels are wanted.
  private func presenter(_ attempt: SlotState.Binding) -> ScanPresenter? {
    guard let pixels, let desk = loader.pixels else { return nil }
    return ScanPresenter(desk, item, pixels, wish) { [screen] scan in
      screen.update(attempt) { $0.scan = scan }
    }
  }

  private func settle(_ attempt: SlotState.Binding, _ change: (inout Presentation) -> Void) {
    screen.update(attempt) { presentation in
      (presentation.isLoading, presentation.progress) = (false, nil)
      change(&presentation)
      // Other words may have come while it ran.
      presentation.resolution?.item = presentation.item
    }
  }

  /// Shows the thumbnail that is cached while the original is on its way.
  ///
  /// - Returns: The thumbnail, if it has yet to be decoded before it can be shown.
  private func showCached(
    _ resolution: Resolution,
    beside shown: Presentation,
    _ operation: LoadOperation,
    _ attempt: SlotState.Binding
  ) -> LoadedImage? {
    guard resolution.decision.load != nil, resolution.decision.show > shown.shown,
      let variant = resolution.decision.show.role.flatMap({ item[$0] }), screen.isCurrent(attempt),
      let found = loader.cached(variant)
    else { return nil }
    let image = operation.image(found, variant, resolution)
    guard pixels == nil else { return image }
    screen.update(attempt) { $0.content = .image(image) }
    return nil
  }

  /// Shows an image that is there, as soon as it has the pixels that are wanted; not at all where it cannot have them.
  ///
  /// - Parameters:
  ///   - image: The image; nothing happens without.
  ///   - attempt: For which binding of the view.
  ///   - inPlaceOfWorse: Whether what has come meanwhile stays, if that is as good.
  private func show(
    _ image: LoadedImage?,
    _ attempt: SlotState.Binding,
    inPlaceOfWorse: Bool = false
  ) async {
    guard var image else { return }
    if let pixels, image.bitmap == nil {
      let desk = loader.pixels
      guard let bitmap = try? await desk?.bitmap(image.bytes, of: image.variant.url, pixels, wish: wish)
      else {
        return
      }
      image.bitmap = bitmap
    }
    screen.update(attempt) { [image] in
      let isAsGood = $0.shown >= ShownImage(image.variant.role)
      if !(inPlaceOfWorse && isAsGood) { $0.content = .image(image) }
    }
  }

  /// Shows the new version of a cached image that turned out to be out of date.
  @concurrent private func follow(_ image: LoadedImage, _ rest: SlotState.Binding, _ number: Int) async {
    if case .changed(let new) = await loader.revalidation(of: image) { await show(new, rest) }
    // Who was called off is followed anew.
    state.withLock { if $0.follows == number { $0.asked = nil } }
  }
}
