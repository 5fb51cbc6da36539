import FeedimgModel
import FeedimgPipeline
import FeedimgSystem
import Synchronization

/// The state of one slot, which decides which binding may present an image.
///
/// Only the latest binding counts, and for it a worse image never replaces a better one. This type is pure.
struct SlotState: Sendable {
  /// Identifies one call of `show` and one attempt to load its image.
  struct Binding: Hashable, Sendable {
    fileprivate let number: Int
    fileprivate let attempt: Int

    /// Returns whether both belong to the same call.
    func isSameCall(as other: Binding) -> Bool { number == other.number }
  }

  private(set) var binding: Binding?
  private(set) var latest: Presentation?
  /// Grows with each change of ``latest``.
  private(set) var version = 0
  private var issued = 0

  /// Binds an item; from here on, earlier bindings are ignored.
  ///
  /// The shown image stays until a better one is available, if it is of the same item.
  mutating func bind(_ first: Presentation) -> Binding {
    issued += 1
    let binding = Binding(number: issued, attempt: 0)
    self.binding = binding
    set(latest.map(first.keeping) ?? first)
    return binding
  }

  /// Binds the same pictures again, such as at another size: the image stays and the load continues.
  ///
  /// - Returns: Whether the pictures are the same, and are loading or shown.
  mutating func bindAgain(_ binding: Binding, _ first: Presentation) -> Bool {
    guard let current = self.binding, current.isSameCall(as: binding), let latest,
      latest.canContinue(as: first)
    else { return false }
    var next = first.keeping(latest)
    if let image = latest.image, image.request == first.request, latest.shown == next.shown {
      next.content = latest.content
    }
    (next.progress, next.resolution) = (latest.progress, latest.resolution?.of(next.item))
    next.isLoading = latest.isLoading || !next.isExact
    if next != latest { set(next) }
    return true
  }

  mutating func clear() {
    binding = nil
    set(nil)
  }

  /// Starts or ends an attempt; results of the previous attempt are then ignored.
  ///
  /// - Returns: The new binding; nil if another item is bound by now.
  mutating func renew(_ binding: Binding) -> Binding? {
    guard let current = self.binding, current.isSameCall(as: binding) else { return nil }
    let next = Binding(number: current.number, attempt: current.attempt + 1)
    self.binding = next
    return next
  }

  /// Changes the presentation if the binding is current, and keeps the better image.
  mutating func update(_ binding: Binding, _ change: (inout Presentation) -> Void) {
    guard binding == self.binding, let latest else { return }
    var next = latest
    change(&next)
    if next.shown < latest.shown { next.content = latest.content }
    if let scan = latest.scan, next.scan?.isSharper(than: scan) != true { next.scan = scan }
    if next.scan?.isSharper(than: next.content) == false { next.scan = nil }
    if next != latest { set(next) }
  }

  private mutating func set(_ presentation: Presentation?) {
    latest = presentation
    version += 1
  }
}

/// Publishes the state of a slot to all its watchers; each sees the latest and may miss earlier ones.
///
/// A watcher reads the state only when it is about to use it. So a state of an earlier binding never waits in
/// a queue.
final class SlotPublisher: Sendable {
  private struct State {
    var slot = SlotState()
    var isClosed = false
  }

  private let state = Mutex(State())
  private let watchers = Waiters<Void>()

  var latest: Presentation? { state.withLock { $0.slot.latest } }

  /// Returns the requested pixels; nil for none, and if the binding is outdated.
  func request(_ binding: SlotState.Binding) -> DecodeRequest? {
    state.withLock { $0.slot.binding == binding ? $0.slot.latest?.request : nil }
  }

  /// Returns whether the binding is still the latest; for nil, whether nothing is bound.
  func isCurrent(_ binding: SlotState.Binding?) -> Bool {
    state.withLock { state in
      guard let binding, let current = state.slot.binding else { return binding == state.slot.binding }
      return current.isSameCall(as: binding)
    }
  }

  /// Ends the sequences of all watchers.
  func close() {
    state.withLock { $0.isClosed = true }
    watchers.resumeAll()
  }

  /// Waits for a presentation newer than a version.
  ///
  /// - Returns: The latest presentation and its version; nil if the slot is gone or the task cancelled.
  func next(after version: Int) async -> (presentation: Presentation, version: Int)? {
    while !Task.isCancelled {
      let (news, isClosed) = state.withLock { state in
        let news = state.slot.version > version ? state.slot.latest.map { ($0, state.slot.version) } : nil
        return (news, state.isClosed)
      }
      if let news { return news }
      guard !isClosed else { return nil }
      await watchers.wait {
        state.withLock { $0.isClosed || $0.slot.version > version && $0.slot.latest != nil } ? () : nil
      }
    }
    return nil
  }

  /// Changes the state under the lock; the body must do nothing else.
  func change<Value: Sendable>(_ body: (inout SlotState) -> Value) -> Value {
    let (value, isNews) = state.withLock { state in
      let before = state.slot.version
      let value = body(&state.slot)
      return (value, state.slot.version != before)
    }
    if isNews { watchers.resumeAll() }
    return value
  }

  /// See ``SlotState/update(_:_:)``.
  func update(_ binding: SlotState.Binding, _ body: (inout Presentation) -> Void) {
    change { $0.update(binding, body) }
  }
}
