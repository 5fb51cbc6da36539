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
  /// The time without signs before one step is reverted; a shorter time would let programs that share memory
  /// oscillate.
  private let recovery: Duration

  private(set) var step = MemoryStep.nothing
  /// The time of the latest sign or step down.
  private var changedAt = Duration.zero

  init(recovery: Duration = .seconds(30)) { self.recovery = recovery }

  /// The time of the next step down if there are no more signs; nil if nothing has been freed.
  var deadline: Duration? { step == .nothing ? nil : changedAt + recovery }

  mutating func signalled(at now: Duration) { change(by: 1, at: now) }

  mutating func waited(at now: Duration) {
    if let deadline, now >= deadline { change(by: -1, at: now) }
  }

  private mutating func change(by steps: Int, at now: Duration) {
    step = MemoryStep(rawValue: step.rawValue + steps) ?? step
    changedAt = now
  }
}
