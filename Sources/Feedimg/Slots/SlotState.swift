import FeedimgModel

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
  mutating func bind(_ first: Presentation) -> Binding {
    issued += 1
    let binding = Binding(number: issued, attempt: 0)
    self.binding = binding
    set(first)
    return binding
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

  /// Changes what is said of what is shown, for the whole of a call.
  mutating func describe(_ binding: Binding, _ change: (inout Presentation) -> Void) {
    guard let current = self.binding, current.isSameCall(as: binding), var next = latest else { return }
    change(&next)
    if next != latest { set(next) }
  }

  private mutating func set(_ presentation: Presentation?) {
    latest = presentation
    version += 1
  }
}
