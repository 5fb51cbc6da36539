import FeedimgSystem
import Glibc
import Synchronization

/// A thread of its own, `feedimg-setting`, that waits for a file to change.
final class SettingsWaiter: Sendable {
  /// Where the system grants no watch, the file is looked at so often; in milliseconds.
  private static let pollingInterval: Int32 = 2000

  private let path: FilePath
  private let onChange: @Sendable (SettingsWaiter) -> Void
  private let wakeEnds: (read: Int32, write: Int32)
  private let isStopped = Atomic(false)

  /// Makes the waiter; nil where the process has no descriptors left.
  ///
  /// The closure is called on the thread: once at its start, after each change, and after each ``wake()``.
  init?(path: FilePath, onChange: @escaping @Sendable (SettingsWaiter) -> Void) {
    var ends: [Int32] = [-1, -1]
    let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
    guard socketpair(AF_UNIX, Int32(kind), 0, &ends) == 0 else { return nil }
    wakeEnds = (ends[0], ends[1])
    self.path = path
    self.onChange = onChange
  }

  deinit {
    close(wakeEnds.read)
    close(wakeEnds.write)
  }

  /// Starts the thread, which keeps this alive until it is stopped.
  ///
  /// - Returns: False where the system grants no thread.
  func start() -> Bool {
    SystemThread.start("feedimg-setting") { self.run() }
  }

  /// Has the thread look at the file again.
  func wake() {
    var byte: UInt8 = 1
    // A full buffer wakes as well.
    _ = write(wakeEnds.write, &byte, 1)
  }

  /// Has the thread end, at once if it waits.
  func stop() {
    isStopped.store(true, ordering: .releasing)
    wake()
  }

  private func run() {
    // Watching begins before the first look, so that no change falls between them.
    let watch = SettingsWatch(path: path) { [weak self] in self?.wake() }
    while !isStopped.load(ordering: .acquiring) {
      onChange(self)
      wait(for: watch)
    }
  }

  private func wait(for watch: SettingsWatch?) {
    var source = pollfd(fd: wakeEnds.read, events: Int16(POLLIN), revents: 0)
    poll(&source, 1, watch == nil ? Self.pollingInterval : -1)
    var block = [UInt8](repeating: 0, count: 64)
    while read(wakeEnds.read, &block, block.count) > 0 {}
    _ = watch?.hasChanged()
  }
}
