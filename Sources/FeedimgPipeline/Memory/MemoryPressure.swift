import FeedimgHTTPCache
import Glibc
import Synchronization

/// Frees memory in steps while it is short: decoded images and copies, then encoded images, then prefetching.
///
/// An image that a caller holds stays complete, because the cache only releases its own reference. Nothing is
/// watched before ``start()``.
package final class MemoryPressure: Sendable {
  private typealias Continuation = AsyncStream<PressureState.Step>.Continuation

  private struct State {
    /// The step of the watch.
    var watched = PressureState.Step.nothing
    /// The step that the program asked for.
    var requested = PressureState.Step.nothing
    var watch: MemoryWatch?
    var isStopped = false
    var listeners: [Int: Continuation] = [:]
    var nextListener = 0

    var step: PressureState.Step { max(watched, requested) }
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

  var step: PressureState.Step { state.withLock { $0.step } }

  /// Whether images may be prefetched.
  package var allowsPrefetch: Bool { step < .prefetch }

  /// Returns the current step, then each change; a slow listener gets only the latest.
  func steps() -> AsyncStream<PressureState.Step> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: PressureState.Step.self,
      bufferingPolicy: .bufferingNewest(1)
    )
    let (number, step, isStopped) = state.withLock { state in
      state.nextListener += 1
      if !state.isStopped { state.listeners[state.nextListener] = continuation }
      return (state.nextListener, state.step, state.isStopped)
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { _ = $0.listeners.removeValue(forKey: number) }
    }
    continuation.yield(step)
    if isStopped { continuation.finish() }
    return stream
  }

  /// Starts to watch, on a thread that sleeps until memory is short; further calls have no effect.
  func start() {
    guard state.withLock({ $0.watch == nil && !$0.isStopped }) else { return }
    let made = MemoryWatch(place, files, pressureState) { [weak self] in self?.become($0) }
    let isWanted = state.withLock { state in
      // Another thread may have started the watch.
      guard state.watch == nil, !state.isStopped else { return false }
      state.watch = made
      return true
    }
    if isWanted { made?.begin() }
  }

  /// Stops watching permanently, and permits everything again.
  func stop() {
    let (watch, listeners) = state.withLock { state in
      state.isStopped = true
      let listeners = state.listeners.values
      state.listeners = [:]
      return (state.watch.take(), Array(listeners))
    }
    watch?.stop()
    become(.nothing)
    for listener in listeners { listener.finish() }
  }

  /// Takes a step for the program, in addition to those of the watch, until the program requests another.
  func request(_ step: PressureState.Step) { change { $0.requested = step } }

  private func become(_ step: PressureState.Step) {
    change { state in
      // A step taken after the watch has stopped would never be reverted.
      if !state.isStopped || step == .nothing { state.watched = step }
    }
  }

  private func change(_ body: (inout State) -> Void) {
    let (before, step, listeners) = state.withLock { state in
      let before = state.step
      body(&state)
      return (before, state.step, Array(state.listeners.values))
    }
    guard step != before else { return }
    memory.keep(step.kinds)
    if step > before { FreedMemory.giveBack() }
    for listener in listeners { listener.yield(step) }
  }
}

extension ImageLoader {
  /// Frees memory on a warning of the program's toolkit, in the steps of memory pressure.
  ///
  /// The loader also watches the system's memory itself, and takes the higher of both steps. Images that
  /// views hold stay. The step lasts until the next call. If the toolkit does not report the end of a
  /// shortage, call it again at once with `nothing`: what was freed stays freed.
  ///
  /// - Parameter step: What to give up; `nothing` permits everything again.
  public func trimMemory(_ step: MemoryStep) { pressure.request(step) }
}

extension PressureState.Step {
  /// The kinds of images that memory may keep.
  fileprivate var kinds: MemoryKinds {
    switch self {
    case .nothing: .all
    case .decodedImages: .encoded
    case .encodedImages, .prefetch: []
    }
  }
}
