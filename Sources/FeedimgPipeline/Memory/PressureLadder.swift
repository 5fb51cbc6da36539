/// Decides what memory gives up while it is short, and when it may have it back (pure).
///
/// One sign is one step up; a time without signs is one step down. Times are of a clock that never goes back.
struct PressureLadder: Sendable, Hashable {
  /// What has been given up so far; each includes those before it.
  enum Step: Int, Sendable, Hashable, CaseIterable, Comparable {
    case nothing
    /// Decoded images, which cost most and can be made again without the network or the disk.
    case decodedImages
    /// Encoded images, which the disk has as well.
    case encodedImages
    /// New images before anybody looks at them.
    case prefetch

    static func < (left: Step, right: Step) -> Bool { left.rawValue < right.rawValue }
  }

  /// How a watcher spends the time until the next change.
  enum Rest: Sendable, Hashable {
    /// Hears nothing until then: what is heard now has the same cause as the last step.
    case deaf(until: Duration)
    /// Listens, and comes back then if it has heard nothing; nil for never.
    case listening(until: Duration?)
  }

  /// What is freed takes this long to be felt; the kernel's own signs come every two seconds at most.
  private let settling: Duration
  /// As long without a sign, and one step is taken back; after less, programs that share a memory would swing.
  private let recovery: Duration

  private(set) var step = Step.nothing
  /// Of the latest sign or step down.
  private var changedAt = Duration.zero
  private var isSettling = false

  init(settling: Duration = .seconds(1), recovery: Duration = .seconds(30)) {
    self.settling = settling
    self.recovery = recovery
  }

  /// Takes note of a sign that memory is short.
  mutating func heard(at now: Duration) {
    step = Step(rawValue: step.rawValue + 1) ?? step
    changedAt = now
    isSettling = settling > .zero
  }

  /// Takes note that time has passed.
  mutating func waited(at now: Duration) {
    if now >= changedAt + settling { isSettling = false }
    guard now >= changedAt + recovery, let lower = Step(rawValue: step.rawValue - 1) else { return }
    step = lower
    changedAt = now
  }

  var rest: Rest {
    if isSettling { return .deaf(until: changedAt + settling) }
    return .listening(until: step == .nothing ? nil : changedAt + recovery)
  }
}
