public import FeedimgModel
import FeedimgPipeline
import FeedimgSystem
import Synchronization

/// Shows one item after another in one reusable view.
///
/// A slot is safe on any thread. The image of an earlier item never arrives after `show`, and a worse image
/// never replaces a better one of the same item. While the slot lives, its image follows the network, the
/// settings and the policy. A released slot loads nothing.
///
/// If a server is unreachable or failing, the slot loads the image again once that server responds, while the
/// slot is visible. From time to time, one slot probes the server. The slot does not wait for a server whose
/// circuit breaker is open. It shows the cached image as it does offline, and sets ``Presentation/error``.
public final class ImageSlot: Sendable {
  private struct State {
    var task: SlotTask?
    var priority = LoadPriority.visible
    var isListening = false
    /// When the current item was bound.
    var boundAt: Duration?
    var listener: Int?
  }

  /// Returns how long to wait before using the network for a view that was bound again.
  ///
  /// A view that is bound again within half a second is being scrolled past. At the same pace, its next item
  /// disappears after about the same time. Waiting one and a half times as long shows whether the item stays;
  /// a longer pause would be noticeable.
  ///
  /// - Returns: Zero, or 150 to 400 milliseconds.
  static func pause(after stay: Duration?) -> Duration {
    guard let stay, stay < .milliseconds(500) else { return .zero }
    return min(.milliseconds(400), max(.milliseconds(150), stay * 1.5))
  }

  private let loader: ImageLoader
  private let publisher = SlotPublisher()
  /// Guards the binding; tasks start and are cancelled outside the lock.
  private let state = Mutex(State())

  init(_ loader: ImageLoader) {
    self.loader = loader
    FreedMemory.begin()
  }

  deinit {
    let (task, listener) = state.withLock { ($0.task, $0.listener) }
    if let listener {
      Task { @PipelineActor [factMonitor = loader.resources.factMonitor] in factMonitor.leave(listener) }
    }
    task?.cancel()
    publisher.close()
    FreedMemory.end()
  }

  /// The presentation to draw now; nil if no item is bound.
  public var presentation: Presentation? { publisher.latest }

  /// The presentations to draw: the latest at once, then each change.
  ///
  /// A slow reader misses those in between. Any number of readers may watch. Each sequence ends with the
  /// slot.
  public var presentations: Presentations { Presentations(publisher: publisher) }

  /// The priority of the item, such as `near` while its row is just below the screen.
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

  /// Binds an item, cancels the previous one, and shows at once the best image that memory holds.
  ///
  /// The call waits neither for the network nor for the file of an image. It may read the index of the cache,
  /// which takes microseconds. During fast scrolling, an uncached image is requested only after its row has
  /// stayed for a moment. Pixels in memory appear at once. Others are decoded on the decoder's threads, which
  /// stop when another item is bound.
  ///
  /// A list that reloads binds the same item again. Then the running load continues and the shown image
  /// stays. Only an item that failed or ended as a placeholder starts again. The same holds if only the size,
  /// or the item's text, differs.
  ///
  /// The view stretches the shown image until the pixels of the new size are ready;
  /// ``Presentation/isLoading`` is true until then. If sizes change faster than they can be decoded, only the
  /// latest is decoded.
  ///
  /// If the item has several sizes, the slot loads the smallest one that `pixels` does not enlarge.
  ///
  /// When a slot shows another item, its transfer continues for a moment, so that another slot can join it.
  ///
  /// - Parameters:
  ///   - item: The item to show.
  ///   - pixels: The size of ``Presentation/pixels`` to decode; needs a decoder in the configuration.
  ///   - facts: See ``ImageLoader/resolve(_:facts:)->Resolution``.
  ///   - priority: The priority of the load, which may change later.
  public func show(
    _ item: FeedItem,
    pixels: DecodeRequest? = nil,
    facts: [String: String] = [:],
    priority: LoadPriority = .visible
  ) {
    // Without a decoder, a slot has no pixels and needs no size.
    let pixels = loader.resources.pixels == nil ? nil : pixels
    let item = loader.sized(item, for: pixels)
    if let task = state.withLock({ $0.task }), task.bindAgain(item, pixels, facts, priority) {
      // A concurrent call may have bound another task.
      return state.withLock { if $0.task === task { $0.priority = priority } }
    }
    let now = loader.resources.time.now()
    let stay = state.withLock { state in
      defer { state.boundAt = now }
      return state.boundAt.map { now - $0 }
    }
    let task = SlotTask(
      loader: loader,
      publisher: publisher,
      facts: facts,
      priority: priority,
      pause: Self.pause(after: stay)
    )
    let binding = task.bind(item, pixels)
    let (old, isFirst) = state.withLock { state in
      // A concurrent call may have won; then this binding ends before it starts.
      guard publisher.isCurrent(binding) else { return (task as SlotTask?, false) }
      let old = state.task
      let isFirst = !state.isListening
      (state.task, state.priority, state.isListening) = (task, priority, true)
      return (old, isFirst)
    }
    old?.leave()
    if isFirst { listen() }
    if old !== task { task.begin(binding) }
  }

  /// Shows nothing, such as when a row is put back for reuse.
  ///
  /// The running transfer stops unless another slot joins it within a moment.
  public func clear() {
    publisher.change { $0.clear() }
    let old = state.withLock { publisher.isCurrent(nil) ? $0.task.take() : nil }
    old?.leave()
  }

  /// Loads the original that the policy leaves to the user, such as after a tap.
  ///
  /// The original is loaded regardless of the table, unless offline. A thumbnail that is large enough for the view
  /// stays.
  public func upgrade() { state.withLock { $0.task }?.upgrade() }

  private func listen() {
    // Runs before the load decides, because both start on the pipeline's thread: a plain task could start later
    // and miss a change.
    PipelineActor.task { [weak self] in
      guard let self else { return }
      let factMonitor = loader.resources.factMonitor
      let number = factMonitor.listen(priority: { [weak self] in self?.priority ?? .prefetch }) {
        [weak self] in
        self?.state.withLock { $0.task }?.reconsider()
      }
      state.withLock { $0.listener = number }
      factMonitor.watchPolicy(loader.policy)
    }
  }
}

extension ImageSlot {
  /// The presentations of a slot, the latest at once.
  public struct Presentations: AsyncSequence, Sendable {
    /// Iterates over the presentations of a slot.
    public struct AsyncIterator: AsyncIteratorProtocol {
      fileprivate let publisher: SlotPublisher
      private var version = 0

      fileprivate init(publisher: SlotPublisher) { self.publisher = publisher }

      /// Waits for the next change.
      ///
      /// - Returns: The presentation to draw now; nil at the end.
      public mutating func next() async -> Presentation? { await next(isolation: #isolation) }

      /// Waits for the next change.
      ///
      /// - Parameter actor: The actor of the caller; the result is the latest when the caller resumes there.
      /// - Returns: The presentation to draw now; nil at the end.
      public mutating func next(isolation actor: isolated (any Actor)?) async -> Presentation? {
        guard let next = await publisher.next(after: version) else { return nil }
        version = next.version
        return next.presentation
      }
    }

    fileprivate let publisher: SlotPublisher

    /// Makes an iterator that begins with the latest presentation.
    ///
    /// - Returns: An independent iterator.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(publisher: publisher) }
  }
}

extension ImageLoader {
  /// Makes a slot for one reusable view.
  ///
  /// - Returns: A new slot that shows nothing yet.
  public func slot() -> ImageSlot { ImageSlot(self) }
}
