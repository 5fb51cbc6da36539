import FeedimgModel
import FeedimgPipeline

/// What one slot shows: the decisions of who may present what.
///
/// Only the latest binding counts, and for it nothing worse takes the place of something better. Pure.
struct SlotState: Sendable {
  /// One call of `show`, and one attempt to get its image, told apart from those before and after.
  struct Binding: Hashable, Sendable {
    fileprivate let number: Int
    fileprivate let attempt: Int

    /// Whether both are of the same call.
    func isSameCall(as other: Binding) -> Bool { number == other.number }
  }

  private(set) var binding: Binding?
  private(set) var latest: Presentation?
  /// Grows with each change of ``latest``.
  private(set) var version = 0
  private var issued = 0

  /// Binds another item, or the same one anew: from here on nothing of an earlier binding counts.
  ///
  /// What is shown of the same image stays until something better is there.
  mutating func bind(_ first: Presentation) -> Binding {
    issued += 1
    let binding = Binding(number: issued, attempt: 0)
    self.binding = binding
    set(latest.map(first.keeping) ?? first)
    return binding
  }

  /// Binds the same pictures again, as for another size: what is shown stays, and who gets them goes on.
  ///
  /// - Returns: Whether they are the same, and come or are shown.
  mutating func bindAgain(_ binding: Binding, _ first: Presentation) -> Bool {
    guard let current = self.binding, current.isSameCall(as: binding), let latest, latest.goesOn(with: first)
    else { return false }
    var next = first.keeping(latest)
    if let image = latest.image, image.request == first.request, latest.shown == next.shown {
      next.content = latest.content
    }
    (next.progress, next.resolution) = (latest.progress, latest.resolution)
    next.resolution?.item = next.item
    next.isLoading = latest.isLoading || !next.isExact
    if next != latest { set(next) }
    return true
  }

  /// Shows nothing.
  mutating func clear() {
    binding = nil
    set(nil)
  }

  /// Begins another attempt, or ends one: what comes of the one before does not count any more.
  ///
  /// - Returns: Nil where something else is bound by now.
  mutating func renew(_ binding: Binding) -> Binding? {
    guard let current = self.binding, current.isSameCall(as: binding) else { return nil }
    let next = Binding(number: current.number, attempt: current.attempt + 1)
    self.binding = next
    return next
  }

  /// Changes what is shown, as far as the binding counts and nothing gets worse.
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
