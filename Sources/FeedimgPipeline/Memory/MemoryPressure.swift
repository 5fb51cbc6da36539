import FeedimgHTTPCache
import FeedimgSystem
import Glibc
import Synchronization

/// Frees memory in steps while it is short: decoded images, then encoded images, then prefetching.
///
/// An image that a caller holds stays complete, because the cache only releases its own reference. Nothing is
/// watched before ``start()``.
package final class MemoryPressure: Sendable {
  private struct State {
    /// The step of the watch.
    var watched = MemoryStep.nothing
    /// The step that the program asked for.
    var requested = MemoryStep.nothing
    var watch: MemoryWatch?
    var isStopped = false

    var step: MemoryStep { max(watched, requested) }
  }

  private let place: PSIFile.Place
  private let files: SystemFiles
  private let pressureState: PressureState
  private let memory: MemoryCache
  private let state = Mutex(State())

  init(
    _ memory: MemoryCache,
    environment: [String: String] = [:],
    files: SystemFiles = SystemFiles(),
    pressureState: PressureState = PressureState()
  ) {
    self.memory = memory
    self.files = files
    self.pressureState = pressureState
    place = PSIFile.Place(environment: environment) ?? .system(files)
  }

  deinit { stop() }

  var step: MemoryStep { state.withLock { $0.step } }

  /// Whether images may be prefetched.
  package var allowsPrefetch: Bool { step < .prefetch }

  /// Starts to watch, on a thread that sleeps until memory is short; further calls have no effect.
  func start() {
    let watch = state.withLock { state -> MemoryWatch? in
      guard state.watch == nil, !state.isStopped else { return nil }
      state.watch = MemoryWatch(place, files, pressureState) { [weak self] in self?.become($0) }
      return state.watch
    }
    watch?.begin()
  }

  /// Stops watching permanently, and permits everything again.
  func stop() {
    let watch = state.withLock { state in
      state.isStopped = true
      return state.watch.take()
    }
    watch?.stop()
    become(.nothing)
  }

  /// Takes a step for the program, in addition to those of the watch, until the program requests another.
  func request(_ step: MemoryStep) { change { $0.requested = step } }

  private func become(_ step: MemoryStep) {
    change { state in
      // A step taken after the watch has stopped would never be reverted.
      if !state.isStopped || step == .nothing { state.watched = step }
    }
  }

  private func change(_ body: (inout State) -> Void) {
    let isHigher = state.withLock { state in
      let before = state.step
      body(&state)
      guard state.step != before else { return false }
      // Under the lock, because the cache must follow the latest step.
      memory.keep(state.step.kinds)
      return state.step > before
    }
    if isHigher { SystemMemory.trim() }
  }
}

extension MemoryStep {
  /// The kinds of images that memory may keep.
  fileprivate var kinds: MemoryKinds {
    switch self {
    case .nothing: .all
    case .decodedImages: .encoded
    case .encodedImages, .prefetch: .none
    }
  }
}

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
