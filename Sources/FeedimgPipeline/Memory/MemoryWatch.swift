import FeedimgSystem
import Glibc
import Synchronization

/// The thread `feedimg-memory`, which sleeps until memory is short and then changes the step.
final class MemoryWatch: Sendable {
  private let place: PSIFile.Place
  private let pressureState: PressureState
  private let onStep: @Sendable (MemoryStep) -> Void
  private let waker: Waker
  private let isStopped = Atomic(false)
  private let start = SuspendingClock.now

  /// Makes the watch; nil if the process has no file descriptor left.
  ///
  /// - Parameters:
  ///   - place: The PSI file.
  ///   - pressureState: Decides the steps.
  ///   - onStep: Called on the thread after each change of the step.
  init?(
    _ place: PSIFile.Place,
    _ pressureState: PressureState,
    onStep: @escaping @Sendable (MemoryStep) -> Void
  ) {
    guard let waker = Waker() else { return nil }
    self.waker = waker
    (self.place, self.pressureState, self.onStep) = (place, pressureState, onStep)
  }

  /// Starts the thread, which keeps this object until ``stop()``; without a thread, shortages are not
  /// noticed.
  func begin() {
    _ = SystemThread.start("feedimg-memory") { self.run() }
  }

  /// Ends the thread.
  func stop() {
    isStopped.store(true, ordering: .releasing)
    waker.wake()
  }

  private func run() {
    var psi = try? PSIFile(place)
    var state = pressureState
    // After the file is gone, for example with its control group, what was freed is permitted again in time.
    while psi != nil || state.step != .nothing, !isStopped.load(ordering: .acquiring) {
      let before = state.step
      switch wait(for: psi, until: state.deadline) {
      case .pressure: state.signalled(at: now)
      case .time: state.waited(at: now)
      case .gone: psi = nil
      }
      if isStopped.load(ordering: .acquiring) { return }
      if state.step != before { onStep(state.step) }
    }
  }

  private enum WakeReason {
    case pressure
    /// The time ended, or the watch stops.
    case time
    /// The file was removed.
    case gone
  }

  private func wait(for psi: PSIFile?, until deadline: Duration?) -> WakeReason {
    // poll(2) ignores a negative descriptor.
    var waits = [
      pollfd(fd: waker.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: psi?.descriptor ?? -1, events: psi?.events ?? 0, revents: 0),
    ]
    poll(&waits, nfds_t(waits.count), milliseconds(until: deadline))
    waker.clear()
    if Int32(waits[1].revents) & (POLLERR | POLLHUP | POLLNVAL) != 0 { return .gone }
    guard waits[1].revents != 0 else { return .time }
    psi?.drain()
    return .pressure
  }

  /// Rounds up, so that the time has come when the sleep ends.
  private func milliseconds(until deadline: Duration?) -> Int32 {
    guard let deadline else { return -1 }
    return Int32(min(max((deadline - now) / .milliseconds(1) + 1, 0), Double(Int32.max)))
  }

  /// The time as poll(2) counts it, which stands still while the machine sleeps.
  private var now: Duration { start.duration(to: SuspendingClock.now) }
}
