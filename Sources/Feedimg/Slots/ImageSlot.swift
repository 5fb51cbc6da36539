public import FeedimgModel
import FeedimgPipeline
import FeedimgSystem
import Synchronization

/// Shows one item after another in one reusable view.
///
/// Safe on any thread. The image of an earlier item never arrives after `show`, and a worse image never replaces a
/// better one of the same item. While the slot lives, what it shows follows the network, the settings and the
/// policy. What a server could not be reached for, or kept back as it was in trouble, is asked for again while the slot
/// is visible, as soon as that server answers anybody; now and then one slot tries. A server that is silent and left
/// alone keeps nobody waiting: what is cached is shown as it is offline, with ``Presentation/error``. It loads nothing
/// any more once nobody holds on to it.
public final class ImageSlot: Sendable {
  private struct State {
    var task: SlotTask?
    var priority = LoadPriority.visible
    var isListening = false
    /// When the present item was bound.
    var boundAt: Duration?
    var listener: Int?
  }

  /// How long the network is spared for an item of a view that is bound again, given how long its last one stayed.
  ///
  /// A view that is bound again within half a second is being scrolled past. At the same pace its next item is gone
  /// by the time the one before was, so half as long again tells; more than a moment nobody waits.
  static func pause(after stay: Duration?) -> Duration {
    guard let stay, stay < .milliseconds(500) else { return .zero }
    return min(.milliseconds(400), max(.milliseconds(150), stay * 1.5))
  }

  private let loader: ImageLoader
  private let screen = SlotScreen()
  /// Guards what is bound; tasks are begun and cancelled outside.
  private let state = Mutex(State())

  init(_ loader: ImageLoader) { self.loader = loader }

  deinit {
    let (task, listener) = state.withLock { ($0.task, $0.listener) }
    if let listener { Task { @PipelineActor [facts = loader.facts] in facts.leave(listener) } }
    task?.cancel()
    screen.close()
  }

  /// What to draw now; nil where nothing is bound.
  public var presentation: Presentation? { screen.latest }

  /// What to draw: the latest at once, then each change.
  ///
  /// Who takes them slowly misses those in between. Any number may watch; a sequence ends with the slot.
  public var presentations: Presentations { Presentations(screen: screen) }

  /// How urgent the item is, such as `near` while its row is just below the screen.
  public var priority: LoadPriority {
    get { state.withLock { $0.priority } }
    set {
      let task = state.withLock { state in
        state.priority = newValue
        return state.task
      }
      task?.setPriority(newValue)
    }
  }

  /// Binds an item: what was shown before is cancelled, and what can be shown at once is.
  ///
  /// Returns without waiting for the disk or the network. While rows are flung past, what is not cached is asked for
  /// only when a row has stayed for a moment. Pixels that are in memory are there at once; others are decoded on
  /// threads of the decoder, which stop when something else is bound.
  ///
  /// Binding again what is bound already, as a list does that is reloaded, disturbs nothing: what comes goes on, what is
  /// shown stays, and only what has failed or ended as a placeholder is begun anew. The same holds where only the
  /// size differs, or what the feed tells beside the pictures: what is shown is for the view to stretch until the pixels
  /// of the new size are there, and ``Presentation/isLoading`` until then. Of sizes that follow each other
  /// faster than they are decoded, the latest is made.
  ///
  /// A transfer goes on for a moment after its slot shows something else, for another that may take it over.
  ///
  /// - Parameters:
  ///   - item: What to show from now on.
  ///   - pixels: At which size to make pixels, for ``Presentation/pixels``; takes a decoder in the configuration.
  ///   - facts: See ``ImageLoader/resolve(_:facts:)->Resolution``.
  ///   - priority: How urgent it is; may be changed later.
  public func show(
    _ item: FeedItem,
    pixels: DecodeRequest? = nil,
    facts: [String: String] = [:],
    priority: LoadPriority = .visible
  ) {
    if let task = state.withLock({ $0.task }), task.bindAgain(item, pixels, facts, priority) {
      // Another call may have been faster.
      return state.withLock { if $0.task === task { $0.priority = priority } }
    }
    let now = loader.time.now()
    let stay = state.withLock { state in
      defer { state.boundAt = now }
      return state.boundAt.map { now - $0 }
    }
    let task = SlotTask(
      loader: loader,
      screen: screen,
      item: item,
      pixels: pixels,
      facts: facts,
      priority: priority,
      pause: Self.pause(after: stay)
    )
    let binding = task.bind()
    let (old, isFirst) = state.withLock { state in
      // Another call may have been faster; then this one is over before it began.
      guard screen.isCurrent(binding) else { return (task as SlotTask?, false) }
      let old = state.task
      let isFirst = !state.isListening
      (state.task, state.priority, state.isListening) = (task, priority, true)
      return (old, isFirst)
    }
    old?.leave()
    if isFirst { listen() }
    if old !== task { task.begin(binding) }
  }

  /// Shows nothing any more, as when a row is put back for reuse.
  ///
  /// What comes stops, unless another slot takes it over within a moment.
  public func clear() {
    screen.clear()
    let old = state.withLock { screen.isCurrent(nil) ? $0.task.take() : nil }
    old?.leave()
  }

  /// Loads what the policy leaves to the person who looks, such as on a tap.
  ///
  /// The original is then loaded whatever the table says, unless offline.
  public func upgrade() { state.withLock { $0.task }?.upgrade() }

  private func listen() {
    Task { @PipelineActor [weak self] in
      guard let self else { return }
      let number = loader.facts.listen(priority: { [weak self] in self?.priority ?? .prefetch }) {
        [weak self] in
        self?.state.withLock { $0.task }?.reconsider()
      }
      state.withLock { $0.listener = number }
      loader.facts.watchPolicy(loader.policy)
    }
  }
}

extension ImageSlot {
  /// What a slot has to draw, the latest at once.
  public struct Presentations: AsyncSequence, Sendable {
    /// Goes through what there is to draw.
    public struct AsyncIterator: AsyncIteratorProtocol {
      fileprivate let screen: SlotScreen
      private var version = 0

      fileprivate init(screen: SlotScreen) { self.screen = screen }

      /// Waits for the next change.
      ///
      /// - Returns: What to draw now; nil at the end.
      public mutating func next() async -> Presentation? { await next(isolation: #isolation) }

      /// Waits for the next change.
      ///
      /// - Parameter actor: Where the caller runs; what is returned is the latest there and then.
      /// - Returns: What to draw now; nil at the end.
      public mutating func next(isolation actor: isolated (any Actor)?) async -> Presentation? {
        guard let next = await screen.next(after: version, isolation: actor) else { return nil }
        version = next.version
        return next.presentation
      }
    }

    fileprivate let screen: SlotScreen

    /// Begins with the latest.
    ///
    /// - Returns: An iterator of its own.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(screen: screen) }
  }
}

extension ImageLoader {
  /// A slot for one reusable view.
  ///
  /// - Returns: A new one that shows nothing yet.
  public func slot() -> ImageSlot { ImageSlot(self) }
}
