import FeedimgSystem
import Glibc
import Synchronization

/// The thread `feedimg-memory`, which sleeps until memory is short and then changes the step.
final class MemoryWatch: Sendable {
  private let place: PSIFile.Place
  private let files: SystemFiles
  private let pressureState: PressureState
  private let onStep: @Sendable (MemoryStep) -> Void
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
    onStep: @escaping @Sendable (MemoryStep) -> Void
  ) {
    guard let waker = Waker() else { return nil }
    self.waker = waker
    (self.place, self.files) = (place, files)
    (self.pressureState, self.onStep) = (pressureState, onStep)
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
    var groups = MemoryGroups(files)?.events(files) ?? []
    var state = pressureState
    // Groups report up to a hundred times a second, so they are read at most once a second.
    var groupsAreDue = Duration.zero
    // After the files are gone, for example with their control group, what was freed is permitted again in time.
    while psi != nil || !groups.isEmpty || state.step != .nothing {
      let isReadingGroups = now >= groupsAreDue
      let deadline = [state.deadline, isReadingGroups ? nil : groupsAreDue].compactMap(\.self).min()
      // poll(2) ignores a negative descriptor.
      var waits = [
        pollfd(fd: waker.descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: psi?.descriptor ?? -1, events: psi?.events ?? 0, revents: 0),
      ]
      if isReadingGroups {
        waits += groups.map { pollfd(fd: $0.descriptor, events: Int16(POLLPRI), revents: 0) }
      }
      poll(&waits, nfds_t(waits.count), milliseconds(until: deadline))
      waker.clear()
      if isStopped.load(ordering: .acquiring) { return }

      var isShort = false
      if Int32(waits[1].revents) & (POLLERR | POLLHUP | POLLNVAL) != 0 {
        psi = nil
      } else if waits[1].revents != 0 {
        psi?.drain()
        isShort = true
      }
      if waits[2...].contains(where: { $0.revents != 0 }) {
        groups.removeAll { group in
          guard let isNew = try? group.hasNewShortage() else { return true }
          isShort = isShort || isNew
          return false
        }
        groupsAreDue = now + .seconds(1)
      }
      let before = state.step
      if isShort { state.signalled(at: now) } else { state.waited(at: now) }
      if state.step != before { onStep(state.step) }
    }
  }

  /// Rounds up, so that the time has come when the sleep ends.
  private func milliseconds(until deadline: Duration?) -> Int32 {
    guard let deadline else { return -1 }
    return Int32(min(max((deadline - now) / .milliseconds(1) + 1, 0), Double(Int32.max)))
  }

  /// The time as poll(2) counts it, which stands still while the machine sleeps.
  private var now: Duration { start.duration(to: SuspendingClock.now) }
}
