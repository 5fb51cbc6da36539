import Glibc
import Synchronization

/// Tells that one of a few files may have changed, whichever process changed it (inotify(7)).
///
/// It watches folders, as editors put a new file in the place of the old one: the folder of the file, the folder of each
/// target of a symbolic link, and for a missing folder the nearest one above it. Changes that another machine makes in a
/// network file system stay unnoticed.
package final class FileWatcher: Sendable {
  private enum Target: Sendable {
    /// Files at these paths, which may come and go.
    case paths([FilePath])
    /// The content of these files, which are there.
    case contents([String])
  }

  private let target: Target
  private let inotify: Inotify
  private let id: Int
  private let hasEvents = Flag()
  private let granted = Atomic(false)

  /// Makes a watcher for a caller that calls ``hasChanged()``.
  ///
  /// - Parameter paths: Of files or folders, which need not exist.
  package init(_ paths: [String]) {
    target = .paths(paths.map(FilePath.init))
    inotify = .ofProcess
    id = inotify.add(hasEvents, nil)
    arm()
  }

  /// Makes a watcher that calls back once soon, and then after each change.
  ///
  /// All calls come on one thread, `feedimg-files`, one after the other; long ones delay the other watchers. Where the
  /// kernel grants no watch, calls come every two seconds.
  ///
  /// - Returns: Nil where the system grants no thread.
  package convenience init?(_ paths: [String], onChange: @escaping @Sendable () -> Void) {
    self.init(.paths(paths.map(FilePath.init)), onChange)
  }

  /// Makes a watcher for the content of files that are there, such as those of control groups.
  ///
  /// - Returns: Nil where the system grants no thread, or the kernel no watch of any of the files.
  package convenience init?(contentsOf paths: [String], onChange: (@Sendable () -> Void)? = nil) {
    self.init(.contents(paths), onChange)
    if !isGranted { return nil }
  }

  private init?(_ target: Target, _ onChange: (@Sendable () -> Void)?) {
    self.target = target
    inotify = .ofProcess
    guard let onChange else {
      id = inotify.add(hasEvents, nil)
      arm()
      return
    }
    let watcher = Weak()
    id = inotify.add(hasEvents) {
      // What stands in the path now is watched before the callback reads it.
      watcher.value?.arm()
      onChange()
    }
    watcher.set(self)
    arm()
    guard inotify.startThread() else { return nil }
    inotify.callBack(id)
  }

  deinit { inotify.remove(id) }

  /// Whether the kernel watches; if not, ``hasChanged()`` is always true.
  package var isGranted: Bool { granted.load(ordering: .acquiring) }

  /// Whether there was a change since the last call; does not wait.
  ///
  /// A caller that reads the files after this call misses nothing.
  package func hasChanged() -> Bool {
    inotify.takeEvents()
    let hasChanged = hasEvents.take()
    if hasChanged || !isGranted { arm() }
    return hasChanged || !isGranted
  }

  /// A stream that tells once at first, and then after each change; changes that are not yet read count as one.
  ///
  /// It ends at once where the system grants no thread.
  package static func changes(of path: String) -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    guard let watcher = FileWatcher([path], onChange: { continuation.yield() }) else {
      continuation.finish()
      return stream
    }
    continuation.onTermination = { _ in withExtendedLifetime(watcher) {} }
    return stream
  }

  // MARK: Watching

  /// `IN_MODIFY` is left out: between the first write into a file and its closing, a reader would see half of it.
  private static let changes =
    UInt32(IN_CLOSE_WRITE) | UInt32(IN_CREATE) | UInt32(IN_DELETE) | UInt32(IN_MOVED_FROM)
    | UInt32(IN_MOVED_TO) | UInt32(IN_ATTRIB) | UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF)
    | UInt32(IN_ONLYDIR)

  /// Watches all that the paths lead through now; the kernel counts a folder once, and drops one that was removed.
  private func arm() {
    let isGranted =
      switch target {
      case .paths(let paths):
        paths.flatMap { (try? $0.links()) ?? [$0] }.allSatisfy { watchNearest($0.folder) }
      case .contents(let paths):
        // The uppermost control group has no such file.
        !paths.filter { inotify.watch($0, UInt32(IN_MODIFY), for: id) }.isEmpty
      }
    granted.store(isGranted, ordering: .releasing)
    inotify.setPolled(id, !isGranted)
  }

  private func watchNearest(_ wanted: String) -> Bool {
    var folder = wanted
    var above: String?
    // Folders that come and go meanwhile move the search up and down; it settles within a few rounds.
    for _ in 0..<64 {
      if inotify.watch(folder, Self.changes, for: id) {
        guard let missing = above, access(missing, F_OK) == 0 else { return true }
        // Another process made it after the search found it missing.
        (folder, above) = (wanted, nil)
      } else {
        let parent = FilePath(folder).folder
        guard errno == ENOENT || errno == ENOTDIR, parent != folder else { return false }
        (folder, above) = (parent, folder)
      }
    }
    return false
  }

  /// A reference for a callback that the watcher itself owns.
  private final class Weak: @unchecked Sendable {
    // Unchecked: set once, before the callback can run; a weak reference may be read on any thread.
    private(set) weak var value: FileWatcher?

    func set(_ watcher: FileWatcher) { value = watcher }
  }
}

/// A mark that one thread sets and another takes.
private final class Flag: Sendable {
  private let isSet = Atomic(false)

  func set() { isSet.store(true, ordering: .releasing) }

  func take() -> Bool { isSet.exchange(false, ordering: .acquiringAndReleasing) }
}

/// The one inotify instance of the process, and the thread that calls back.
///
/// A user has 128 instances over all processes. It stays open, as closing one takes the kernel some 8 ms.
private final class Inotify: Sendable {
  static let ofProcess = Inotify()

  private struct Listener: Sendable {
    let hasEvents: Flag
    let callBack: (@Sendable () -> Void)?
  }

  private struct State {
    /// Negative before the kernel grants one.
    var descriptor: Int32 = -1
    var listeners: [Int: Listener] = [:]
    /// By the kernel's watch.
    var watchers: [Int32: Set<Int>] = [:]
    /// The listeners to call back.
    var pending: Set<Int> = []
    /// The listeners to call back every two seconds, as the kernel does not watch for them.
    var polled: Set<Int> = []
    var lastID = 0
    var waker: Waker?
  }

  private static let pollingInterval = 2_000_000_000

  /// Guards all; held while the kernel adds a watch, so that no event of it is read before it is known.
  private let state = Mutex(State())

  func add(_ hasEvents: Flag, _ callBack: (@Sendable () -> Void)?) -> Int {
    state.withLock { state in
      state.lastID += 1
      state.listeners[state.lastID] = Listener(hasEvents: hasEvents, callBack: callBack)
      return state.lastID
    }
  }

  func remove(_ id: Int) {
    state.withLock { state in
      state.listeners[id] = nil
      state.pending.remove(id)
      state.polled.remove(id)
      for (watch, ids) in state.watchers where ids.contains(id) {
        state.watchers[watch]?.remove(id)
        guard state.watchers[watch]?.isEmpty == true else { continue }
        state.watchers[watch] = nil
        inotify_rm_watch(state.descriptor, watch)
      }
    }
  }

  /// Watches a file or folder, also for other events than before.
  ///
  /// - Returns: Whether the kernel grants it; `errno` says why not.
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

  /// Reads all events so far, without waiting.
  func takeEvents() {
    state.withLock { state in
      withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { block in
        while case let count = read(state.descriptor, block.baseAddress, block.count), count > 0 {
          var offset = 0
          while offset + MemoryLayout<inotify_event>.size <= count {
            let event = block.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
            Self.note(event, &state)
            offset += MemoryLayout<inotify_event>.size + Int(event.len)
          }
        }
      }
      if !state.pending.isEmpty { state.waker?.wake() }
    }
  }

  private static func note(_ event: inotify_event, _ state: inout State) {
    // After an overflow of the kernel's queue, anything may have changed.
    let isOverflow = event.mask & UInt32(IN_Q_OVERFLOW) != 0
    let ids = isOverflow ? Set(state.listeners.keys) : state.watchers[event.wd] ?? []
    for id in ids {
      guard let listener = state.listeners[id] else { continue }
      listener.hasEvents.set()
      if listener.callBack != nil { state.pending.insert(id) }
    }
    // The kernel has dropped the watch, as the folder was removed.
    if event.mask & UInt32(IN_IGNORED) != 0 { state.watchers[event.wd] = nil }
  }

  // MARK: Calling back

  /// Has the thread call a listener back.
  func callBack(_ id: Int) {
    state.withLock { state in
      state.pending.insert(id)
      state.waker?.wake()
    }
  }

  func setPolled(_ id: Int, _ isPolled: Bool) {
    state.withLock { state in
      let hasCallBack = state.listeners[id]?.callBack != nil
      if isPolled, hasCallBack {
        if state.polled.insert(id).inserted { state.waker?.wake() }
      } else {
        state.polled.remove(id)
      }
    }
  }

  /// Starts the thread `feedimg-files`, which runs until the process ends.
  ///
  /// - Returns: Whether it runs.
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
      let (descriptor, isPolling) = state.withLock { ($0.descriptor, !$0.polled.isEmpty) }
      // poll(2) passes over a negative descriptor.
      var sources = [waker.descriptor, descriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      let rest = max(0, nextPoll - ConditionLock<Void>.now) / 1_000_000 + 1
      poll(&sources, 2, isPolling ? Int32(rest) : -1)
      waker.clear()
      takeEvents()
      let isDue = ConditionLock<Void>.now >= nextPoll
      if isDue { nextPoll = ConditionLock<Void>.now + Self.pollingInterval }
      let callBacks = state.withLock { state in
        let ids = isDue ? state.pending.union(state.polled) : state.pending
        state.pending = []
        return ids.sorted().compactMap { state.listeners[$0]?.callBack }
      }
      for callBack in callBacks { callBack() }
    }
  }
}
