import Glibc
import Synchronization

/// Reports that one of a few files may have changed, through any process (inotify(7)).
///
/// It watches folders, because editors replace files. It watches the folder of each file and of each target
/// of a symbolic link. For a missing folder, it watches the nearest existing folder above.
///
/// The kernel does not report changes that another machine makes in a network file system.
package final class FileWatcher: Sendable {
  private let paths: [FilePath]
  private let inotify = Inotify.ofProcess
  private let id: Int

  /// Creates a watcher of files or folders, which need not exist.
  ///
  /// It calls back once soon, and then after each change. The thread `feedimg-files` makes all calls, one after the
  /// other; a slow call delays other watchers. If the kernel refuses a watch, the calls come every two seconds.
  ///
  /// - Returns: Nil if the thread cannot be started.
  package init?(_ paths: [String], onChange: @escaping @Sendable () -> Void) {
    guard Inotify.ofProcess.startThread() else { return nil }
    self.paths = paths.map(FilePath.init)
    id = inotify.makeID()
    arm()
    inotify.callBack(id) { [weak self] in
      // Watch the current files before the callback reads them, so that no change is missed.
      self?.arm()
      onChange()
    }
  }

  deinit { inotify.remove(id) }

  // MARK: Watching

  /// The events to watch; without `IN_MODIFY`, since a reader would see a partly written file before it is
  /// closed.
  private static let changes =
    UInt32(IN_CLOSE_WRITE) | UInt32(IN_CREATE) | UInt32(IN_DELETE) | UInt32(IN_MOVED_FROM)
    | UInt32(IN_MOVED_TO) | UInt32(IN_ATTRIB) | UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF)
    | UInt32(IN_ONLYDIR)

  /// Watches the folders that the paths lead through now.
  ///
  /// Watching a folder again changes nothing, and the kernel drops the watch of a removed folder.
  private func arm() {
    let folders = paths.flatMap { (try? $0.links()) ?? [$0] }.map(\.folder)
    inotify.setGranted(id, folders.allSatisfy(watchNearest))
  }

  private func watchNearest(_ wanted: String) -> Bool {
    var folder = wanted
    var above: String?
    // Other processes may create and remove folders during the search; a few rounds are usually enough.
    for _ in 0..<64 {
      if inotify.watch(folder, Self.changes, for: id) {
        guard let missing = above, access(missing, F_OK) == 0 else { return true }
        // Another process created the folder after the search found it missing.
        (folder, above) = (wanted, nil)
      } else {
        let parent = FilePath(folder).folder
        guard errno == ENOENT || errno == ENOTDIR, parent != folder else { return false }
        (folder, above) = (parent, folder)
      }
    }
    return false
  }
}

/// The only inotify instance of the process, and the thread that calls back.
///
/// By default, a user may have 128 instances in all processes. The instance stays open, because closing it
/// takes the kernel about 8 ms.
private final class Inotify: Sendable {
  static let ofProcess = Inotify()

  private struct State {
    /// The descriptor of the instance; negative if there is none.
    var descriptor: Int32 = -1
    var callBacks: [Int: @Sendable () -> Void] = [:]
    /// The listeners of each watch of the kernel.
    var watchers: [Int32: Set<Int>] = [:]
    /// The listeners to call back.
    var pending: Set<Int> = []
    /// The listeners whose watch the kernel refused; they are called back every two seconds.
    var refused: Set<Int> = []
    var lastID = 0
    var waker: Waker?
  }

  private static let pollingInterval = 2_000_000_000

  /// All state; locked while the kernel adds a watch, so that no event is read before its watch is known.
  private let state = Mutex(State())

  func makeID() -> Int {
    state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
  }

  func remove(_ id: Int) {
    // The callback is released outside the lock.
    _ = state.withLock { state in
      state.pending.remove(id)
      state.refused.remove(id)
      for (watch, ids) in state.watchers where ids.contains(id) {
        state.watchers[watch]?.remove(id)
        guard state.watchers[watch]?.isEmpty == true else { continue }
        state.watchers[watch] = nil
        inotify_rm_watch(state.descriptor, watch)
      }
      return state.callBacks.removeValue(forKey: id)
    }
  }

  /// Watches a file or folder; adds the events to those already watched.
  ///
  /// - Returns: False if the kernel refuses; `errno` has the reason.
  func watch(_ path: String, _ events: UInt32, for id: Int) -> Bool {
    state.withLock { state in
      if state.descriptor < 0 {
        state.descriptor = inotify_init1(Int32(O_NONBLOCK | O_CLOEXEC))
        state.waker?.wake()
      }
      let watch = inotify_add_watch(state.descriptor, path, events | UInt32(IN_MASK_ADD))
      guard watch >= 0 else { return false }
      state.watchers[watch, default: []].insert(id)
      return true
    }
  }

  func setGranted(_ id: Int, _ isGranted: Bool) {
    state.withLock { state in
      if isGranted {
        state.refused.remove(id)
      } else if state.refused.insert(id).inserted {
        state.waker?.wake()
      }
    }
  }

  /// Reads all events so far, without waiting.
  private static func takeEvents(_ state: inout State) {
    // A block of at most 1,024 bytes is on the stack; an event has at most 272.
    withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 8) { block in
      while case let count = read(state.descriptor, block.baseAddress, block.count), count > 0 {
        var offset = 0
        while offset + MemoryLayout<inotify_event>.size <= count {
          let event = block.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
          note(event, &state)
          offset += MemoryLayout<inotify_event>.size + Int(event.len)
        }
      }
    }
  }

  private static func note(_ event: inotify_event, _ state: inout State) {
    // If the kernel's queue has overflowed, any file may have changed.
    let isOverflow = event.mask & UInt32(IN_Q_OVERFLOW) != 0
    state.pending.formUnion(isOverflow ? Set(state.callBacks.keys) : state.watchers[event.wd] ?? [])
    // The folder was removed, so the kernel has dropped the watch.
    if event.mask & UInt32(IN_IGNORED) != 0 { state.watchers[event.wd] = nil }
  }

  // MARK: Calling back

  /// Makes the thread call a listener back once soon, and then after each change.
  func callBack(_ id: Int, _ callBack: @escaping @Sendable () -> Void) {
    state.withLock { state in
      state.callBacks[id] = callBack
      state.pending.insert(id)
      state.waker?.wake()
    }
  }

  /// Starts the thread `feedimg-files`, which runs until the process ends; false if the system refuses.
  func startThread() -> Bool {
    state.withLock { state in
      guard state.waker == nil else { return true }
      guard let waker = Waker(), SystemThread.start("feedimg-files", { self.run(waker) }) else {
        return false
      }
      state.waker = waker
      return true
    }
  }

  private func run(_ waker: Waker) {
    var nextPoll = ConditionLock<Void>.now + Self.pollingInterval
    while true {
      let (descriptor, isPolling) = state.withLock { ($0.descriptor, !$0.refused.isEmpty) }
      // poll(2) ignores a negative descriptor.
      var sources = [waker.descriptor, descriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      let rest = max(0, nextPoll - ConditionLock<Void>.now) / 1_000_000 + 1
      poll(&sources, 2, isPolling ? Int32(rest) : -1)
      waker.clear()
      let isDue = ConditionLock<Void>.now >= nextPoll
      if isDue { nextPoll = ConditionLock<Void>.now + Self.pollingInterval }
      let callBacks = state.withLock { state in
        Self.takeEvents(&state)
        let ids = isDue ? state.pending.union(state.refused) : state.pending
        state.pending = []
        return ids.sorted().compactMap { state.callBacks[$0] }
      }
      for callBack in callBacks { callBack() }
    }
  }
}
