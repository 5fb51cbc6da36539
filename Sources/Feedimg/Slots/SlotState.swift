import FeedimgModel
import FeedimgPipeline

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
    guard let current = self.binding, current.isSameCall(as: binding), let latest, latest.goesOn(with: first)
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
