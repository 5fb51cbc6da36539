package import FeedimgModel
package import FeedimgSystem
import Glibc
import Synchronization

/// The user's settings, in a file that other processes may change.
package final class SettingsStore: SettingsReading {
  /// One setting for a list.
  package struct Entry: Sendable, Hashable {
    package var key: SettingKey
    /// The current value.
    package var value: String
    /// Whether the user has set the value; otherwise ``value`` is the default.
    package var isSet: Bool
  }

  private struct State {
    var snapshot = SettingsSnapshot()
    /// The version of the file that `snapshot` has; nil if the next call must read the file again.
    var stamp: FileStamp?
    /// The latest valid version with content; nil before the first.
    ///
    /// Editors may remove or empty the file while they save, so such a file does not replace it.
    var valid: SettingsSnapshot?
    /// The warnings that were not taken yet.
    var warnings: [String] = []

    mutating func use(_ new: SettingsSnapshot, _ stamp: FileStamp?) {
      if new.object != nil { valid = new }
      let used = valid.map(new.keeping) ?? new
      let known = snapshot.warnings + warnings
      warnings += used.warnings.filter { !known.contains($0) }
      (snapshot, self.stamp) = (used, stamp)
    }
  }

  package let file: SettingsFile
  private let clock: @Sendable () -> Double
  private let pause: @Sendable () -> Void
  /// Guards the latest snapshot; the file is read outside the lock.
  private let state = Mutex(State())

  /// Creates a store without opening a file.
  ///
  /// - Parameters:
  ///   - folder: The folder of `settings.json`. It need not exist.
  ///   - clock: Seconds since 1970.
  ///   - pause: Waits until an editor that removed or emptied the file has probably written it.
  package init(
    folder: String,
    clock: @escaping @Sendable () -> Double = SystemClock.seconds,
    pause: @escaping @Sendable () -> Void = { poll(nil, 0, 20) }
  ) {
    file = SettingsFile(folder: folder)
    (self.clock, self.pause) = (clock, pause)
  }

  // MARK: Reading

  /// The current settings, including a change that another process just made.
  ///
  /// A call costs one system call unless the file changed. An invalid value counts as not set. While the file
  /// cannot be read or is not JSON, the last valid version stays in force; without one, all values count as not
  /// set. A missing or blank file means the defaults. See ``takeWarnings()``.
  package func currentSettings() -> UserSettings { currentSnapshot().settings }

  /// The current settings, then those after each change of the file.
  ///
  /// The same settings may come twice, because a change may be undone before it is noticed. A slow consumer gets
  /// the latest settings. If the system allows no thread to watch, the stream ends after the first.
  package func changes() -> AsyncStream<UserSettings> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: UserSettings.self,
      bufferingPolicy: .bufferingNewest(1)
    )
    let known = Mutex<FileStamp?>(nil)
    let watcher = FileWatcher([file.path]) {
      self.waitForEditor()
      let stamp = FileStamp(path: self.file.path)
      let isNew = known.withLock { known in
        defer { known = stamp }
        return known != stamp
      }
      if isNew { continuation.yield(self.currentSettings()) }
    }
    if let watcher {
      continuation.onTermination = { _ in withExtendedLifetime(watcher) {} }
    } else {
      continuation.yield(currentSettings())
      continuation.finish()
    }
    return stream
  }

  /// Calls back when the user marks a network; changes of other settings are ignored.
  ///
  /// - Returns: The watcher, which calls back until it is released; nil if the system grants no thread.
  package func watchMarks(_ onChange: @escaping @Sendable () -> Void) -> FileWatcher? {
    let known = Mutex(currentSettings().markedNetworks)
    return FileWatcher([file.path]) {
      self.waitForEditor()
      let new = self.currentSettings().markedNetworks
      let isNew = known.withLock { known in
        defer { known = new }
        return known != new
      }
      if isNew { onChange() }
    }
  }

  /// Waits a moment if the file is missing, blank or unusable, and was valid before.
  ///
  /// vim renames the old file, then creates the new one and writes it. In between, the defaults would apply.
  private func waitForEditor() { if currentSnapshot().object == nil, valid != nil { pause() } }

  /// The messages about the file that were not taken yet.
  ///
  /// Does not read the file. A message that disappeared and returned is new.
  package func takeWarnings() -> [String] {
    state.withLock { state in
      defer { state.warnings = [] }
      return state.warnings
    }
  }

  /// The current value of a setting.
  package func value(of key: SettingKey) -> String { key.value(in: currentSettings()) }

  /// All settings, in the order of ``SettingKey``.
  package func entries() -> [Entry] {
    let snapshot = currentSnapshot()
    return SettingKey.allCases.map { key in
      Entry(key: key, value: key.value(in: snapshot.settings), isSet: snapshot.stored.contains(key))
    }
  }

  // MARK: Changing

  /// Changes settings together, and writes the file before it returns.
  ///
  /// If the file is not JSON, the last valid version is written with the changes, and the old content is copied.
  ///
  /// - Throws: ``SettingsError``. Nothing then changes.
  package func change(_ changes: [SettingsFile.Change]) throws(SettingsError) {
    keep(try file.change(changes, or: valid))
  }

  /// Sets one setting to a value that a user typed.
  ///
  /// - Throws: ``SettingsError``. Nothing then changes.
  package func set(_ key: SettingKey, to text: String) throws(SettingsError) { try change([(key, text)]) }

  /// Marks a network as metered or not, or removes its mark, and writes the file before it returns.
  ///
  /// - Throws: ``SettingsError``. Nothing then changes.
  package func mark(_ network: NetworkName, _ metered: Metered?) throws(SettingsError) {
    keep(try file.mark(network, metered, or: valid))
  }

  private var valid: SettingsSnapshot? { state.withLock { $0.valid } }

  private func keep(_ written: SettingsSnapshot) {
    // Another process may have written since, so the next call reads the file again.
    state.withLock { $0.use(written, nil) }
  }

  private func currentSnapshot() -> SettingsSnapshot {
    let stamp = FileStamp(path: file.path)
    if let known = state.withLock({ $0.stamp == stamp ? $0.snapshot : nil }) { return known }
    let isSettled = stamp.isSettled(at: clock())
    let found = file.read()
    return state.withLock { state in
      state.use(found, isSettled && !found.isUnreadable ? stamp : nil)
      return state.snapshot
    }
  }
}
