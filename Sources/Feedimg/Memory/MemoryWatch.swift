import FeedimgSystem
import Glibc
import Synchronization

/// A thread of its own, `feedimg-memory`, that sleeps until memory is short and climbs the ladder.
final class MemoryWatch: Sendable {
  private let place: StallFile.Place
  private let files: SystemFiles
  private let ladder: PressureLadder
  private let onStep: @Sendable (PressureLadder.Step) -> Void
  private let bell: (read: Int32, write: Int32)
  private let isStopped = Atomic(false)
  private let start = SuspendingClock.now

  /// Makes the watch; nil where the process has no descriptors left.
  ///
  /// The closure is called on the thread, after each change of the step.
  init?(
    _ place: StallFile.Place,
    _ files: SystemFiles,
    _ ladder: PressureLadder,
    onStep: @escaping @Sendable (PressureLadder.Step) -> Void
  ) {
    var ends: [Int32] = [-1, -1]
    let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
    guard socketpair(AF_UNIX, Int32(kind), 0, &ends) == 0 else { return nil }
    bell = (ends[0], ends[1])
    self.place = place
    self.files = files
    self.ladder = ladder
    self.onStep = onStep
  }

  deinit {
    close(bell.read)
    close(bell.write)
  }

  /// Starts the thread, which keeps this alive until it is stopped; without it, nothing is noticed.
  func begin() {
    _ = SystemThread.start("feedimg-memory") { self.run() }
  }

  /// Has the thread end, at once if it waits.
  func stop() {
    isStopped.store(true, ordering: .releasing)
    ring()
  }

  private func ring() {
    var byte: UInt8 = 1
    // A full buffer wakes as well.
    _ = write(bell.write, &byte, 1)
  }

  private func run() {
    let senses = MemorySenses(place, files) { [weak self] in self?.ring() }
    var ladder = ladder
    while senses.isOpen, !isStopped.load(ordering: .acquiring) {
      let before = ladder.step
      let wasSign =
        switch ladder.rest {
        case .deaf(let until): senses.wait(for: bell.read, atMost: until - now, isListening: false)
        case .listening(let until):
          senses.wait(for: bell.read, atMost: until.map { $0 - now }, isListening: true)
        }
      if isStopped.load(ordering: .acquiring) { return }
      if wasSign { ladder.heard(at: now) } else { ladder.waited(at: now) }
      if ladder.step != before { onStep(ladder.step) }
    }
  }

  /// The time as `poll` counts it, which stands still while the computer sleeps.
  private var now: Duration { start.duration(to: SuspendingClock.now) }
}
