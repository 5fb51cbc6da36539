import FeedimgSystem
import Synchronization

/// The thread `feedimg-memory`, which sleeps until memory is short and then changes the step.
final class MemoryWatch: Sendable {
  private let place: PSIFile.Place
  private let files: SystemFiles
  private let pressureState: PressureState
  private let onStep: @Sendable (PressureState.Step) -> Void
  private let waker: Waker
  private let isStopped = Atomic(false)
  private let start = SuspendingClock.now

  /// Makes the watch; nil if the process has no file descriptor left.
  ///
  /// - Parameters:
  ///   - place: The PSI file.
  ///   - files: The files of the control groups.
  ///   - pressureState: Decides the steps.
  ///   - onStep: Called on the thread after each change of the step.
  init?(
    _ place: PSIFile.Place,
    _ files: SystemFiles,
    _ pressureState: PressureState,
    onStep: @escaping @Sendable (PressureState.Step) -> Void
  ) {
    guard let waker = Waker() else { return nil }
    self.waker = waker
    self.place = place
    self.files = files
    self.pressureState = pressureState
    self.onStep = onStep
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
    let sources = PressureSources(place, files, waker: waker)
    var pressureState = pressureState
    while sources.isOpen, !isStopped.load(ordering: .acquiring) {
      let before = pressureState.step
      let wasSign =
        switch pressureState.rest {
        case .paused(let until): sources.wait(for: waker, atMost: until - now, isListening: false)
        case .listening(let until):
          sources.wait(for: waker, atMost: until.map { $0 - now }, isListening: true)
        }
      if isStopped.load(ordering: .acquiring) { return }
      if wasSign { pressureState.signalled(at: now) } else { pressureState.waited(at: now) }
      if pressureState.step != before { onStep(pressureState.step) }
    }
  }

  /// The time as poll(2) counts it, which stands still while the machine sleeps.
  private var now: Duration { start.duration(to: SuspendingClock.now) }
}
