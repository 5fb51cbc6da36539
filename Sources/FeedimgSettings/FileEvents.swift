import FeedimgSystem
import Glibc
import Synchronization

/// What the kernel tells of changes to files and folders (inotify(7)), for the whole process.
///
/// A user may have 128 of the kernel's instances over all processes, so that one has to do for all who watch here; each
/// of them has a ``FileInterest``. It is made for the first and stays, as closing it takes the kernel some 8 ms.
final class FileEvents: Sendable {
  private struct State {
    /// Who watches, by the kernel's number of what is watched.
    var audience: [Int32: [Int: Listener]] = [:]
    var issued = 0
    var hasThread = false
  }

  private struct Listener: Sendable {
    let note: @Sendable () -> Void
  }

  private let descriptor: Int32
  /// Guards who watches what.
  ///
  /// Held while the kernel is asked, which waits for nobody: so nobody else's look takes away an event before it is
  /// noted, and no watch ends that another has just come to share.
  private let state = Mutex(State())

  private static let instance = Mutex<FileEvents?>(nil)

  /// The one of this process; nil where the system grants none.
  static func ofProcess() -> FileEvents? {
    instance.withLock { instance in
      if instance == nil { instance = FileEvents() }
      return instance
    }
  }

  private init?() {
    descriptor = inotify_init1(Int32(O_NONBLOCK | O_CLOEXEC))
    guard descriptor >= 0 else { return nil }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  func issue() -> Int {
    state.withLock { state in
      state.issued += 1
      return state.issued
    }
  }

  /// Begins to watch; what was watched before by the same number is watched on.
  ///
  /// - Returns: Whether the kernel grants it; `errno` says why not.
  func watch(_ path: String, _ mask: UInt32, for number: Int, note: @escaping @Sendable () -> Void) -> Bool {
    state.withLock { state in
      // Who watches the same for other reasons keeps theirs.
      let watch = inotify_add_watch(descriptor, path, mask | UInt32(IN_MASK_ADD))
      guard watch >= 0 else { return false }
      state.audience[watch, default: [:]][number] = Listener(note: note)
      return true
    }
  }

  func leave(_ number: Int) {
    state.withLock { state in
      for (watch, listeners) in state.audience where listeners[number] != nil {
        state.audience[watch]?[number] = nil
        guard state.audience[watch]?.isEmpty == true else { continue }
        state.audience[watch] = nil
        inotify_rm_watch(descriptor, watch)
      }
    }
  }

  /// Notes all that has happened so far, without waiting.
  func takeIn() {
    state.withLock { state in
      withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { block in
        while case let count = read(descriptor, block.baseAddress, block.count), count > 0 {
          var place = 0
          while place + MemoryLayout<inotify_event>.size <= count {
            let event = block.loadUnaligned(fromByteOffset: place, as: inotify_event.self)
            Self.note(event, &state)
            place += MemoryLayout<inotify_event>.size + Int(event.len)
          }
        }
      }
    }
  }

  private static func note(_ event: inotify_event, _ state: inout State) {
    // An overflow of the queue may be about anything.
    let isOverflow = event.mask & UInt32(IN_Q_OVERFLOW) != 0
    for (watch, listeners) in state.audience where isOverflow || watch == event.wd {
      for listener in listeners.values { listener.note() }
    }
    // The kernel watches no longer, as what was watched has gone.
    if event.mask & UInt32(IN_IGNORED) != 0 { state.audience[event.wd] = nil }
  }

  /// Sees to it that a thread of its own, `feedimg-files`, takes in what happens as it happens.
  ///
  /// - Returns: Whether there is one.
  func startThread() -> Bool {
    state.withLock { state in
      if !state.hasThread { state.hasThread = SystemThread.start("feedimg-files") { self.run() } }
      return state.hasThread
    }
  }

  /// For as long as the process lives.
  private func run() {
    var source = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while true {
      poll(&source, 1, -1)
      takeIn()
    }
  }
}
