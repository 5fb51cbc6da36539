import FeedimgModel
package import FeedimgSystem
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

/// A pressure-stall file, which reports when programs wait for memory.
///
/// The kernel's `Documentation/accounting/psi.rst` describes it.
package final class PSIFile: Sendable {
  /// The path, and the trigger to write first.
  package struct Place: Sendable, Hashable {
    package var path: String
    var trigger: [UInt8]

    /// The file of the whole system; it reports when a program waits for a tenth of two seconds.
    ///
    /// This is systemd's default. Without privileges, windows are multiples of two seconds. The kernel drops
    /// the last byte of the trigger.
    package static func system(_ files: SystemFiles) -> Place {
      Place(path: files.path("/proc/pressure/memory"), trigger: Array("some 200000 2000000\0".utf8))
    }
  }

  private let file: OpenFile
  /// The events to poll(2) for.
  let events: Int16
  private let isPipe: Bool

  /// Opens the file and writes the trigger.
  ///
  /// - Throws: ``FileError`` with the system's reason.
  package init(_ place: Place) throws(FileError) {
    file = try OpenFile(place.path, to: "open", O_RDWR | O_NONBLOCK)
    isPipe = try file.status().st_mode & S_IFMT == S_IFIFO
    events = Int16(isPipe ? POLLIN : POLLPRI)
    // Do not write into a pipe, because its reader would read the trigger back.
    if !isPipe, !place.trigger.isEmpty { try file.write(place.trigger) }
  }

  var descriptor: Int32 { file.descriptor }

  /// Empties a pipe; poll(2) resets the file of the kernel.
  func drain() {
    guard isPipe else { return }
    var block = [UInt8](repeating: 0, count: 256)
    while read(descriptor, &block, block.count) > 0 {}
  }
}

extension PSIFile.Place {
  /// The file that the service manager names in the environment (systemd.io/MEMORY_PRESSURE); nil if it
  /// names none.
  ///
  /// The path is empty if the service manager disables the reports.
  package init?(environment: [String: String]) {
    guard let path = environment["MEMORY_PRESSURE_WATCH"], !path.isEmpty else { return nil }
    self.path = path == "/dev/null" ? "" : path
    trigger = environment["MEMORY_PRESSURE_WRITE"].flatMap(Base64.decode) ?? []
  }
}
