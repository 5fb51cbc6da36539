/// The steps of freeing memory; each step includes those before it.
public enum MemoryStep: Int, Sendable, Hashable, CaseIterable, Comparable {
  case nothing
  /// Free decoded images, which are the largest and can be made again without the network or the disk.
  case decodedImages
  /// Free encoded images, which are also on disk.
  case encodedImages
  /// Stop prefetching.
  case prefetch

  /// Whether the left step comes before the right one.
  public static func < (left: MemoryStep, right: MemoryStep) -> Bool { left.rawValue < right.rawValue }
}

/// Decides what to free while memory is short, and when to permit it again (pure).
///
/// A sign of shortage is one step up; a period without signs is one step down. Times are from a clock that
/// never goes back.
struct PressureState: Sendable, Hashable {
  typealias Step = MemoryStep

  /// The behaviour of a watcher until the next change.
  enum Rest: Sendable, Hashable {
    /// Ignore signs until then, because they have the same cause as the last step.
    case paused(until: Duration)
    /// Wait for signs, at most until then; nil for no limit.
    case listening(until: Duration?)
  }

  /// The time until freed memory takes effect; the kernel sends signs at most every two seconds.
  private let settling: Duration
  /// The time without signs before one step is reverted; a shorter time would let programs that share memory
  /// oscillate.
  private let recovery: Duration

  private(set) var step = Step.nothing
  /// The time of the latest sign or step down.
  private var changedAt = Duration.zero
  private var isSettling = false

  init(settling: Duration = .seconds(1), recovery: Duration = .seconds(30)) {
    self.settling = settling
    self.recovery = recovery
  }

  mutating func signalled(at now: Duration) {
    step = Step(rawValue: step.rawValue + 1) ?? step
    changedAt = now
    isSettling = settling > .zero
  }

  mutating func waited(at now: Duration) {
    if now >= changedAt + settling { isSettling = false }
    guard now >= changedAt + recovery, let lower = Step(rawValue: step.rawValue - 1) else { return }
    step = lower
    changedAt = now
  }

  var rest: Rest {
    if isSettling { return .paused(until: changedAt + settling) }
    return .listening(until: step == .nothing ? nil : changedAt + recovery)
  }
}
