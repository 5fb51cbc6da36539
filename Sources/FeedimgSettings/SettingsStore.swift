package import FeedimgModel
package import FeedimgSystem
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
    /// The warnings that were taken from the latest snapshot.
    var reported: Set<String> = []
  }

  package let file: SettingsFile
  private let clock: @Sendable () -> Double
  /// Guards the latest snapshot; the file is read outside the lock.
  private let state = Mutex(State())

  /// Creates a store without opening a file.
  ///
  /// - Parameters:
  ///   - folder: The folder of `settings.json`. It need not exist.
  ///   - clock: Seconds since 1970.
  package init(folder: String, clock: @escaping @Sendable () -> Double = SystemClock.seconds) {
    file = SettingsFile(folder: folder)
    self.clock = clock
  }

  // MARK: Reading

  /// The current settings, including a change that another process just made.
  ///
  /// A call costs one system call unless the file changed. An invalid value counts as not set; see
  /// ``takeWarnings()``.
  package func currentSettings() -> UserSettings { currentSnapshot().settings }

  /// The current settings, then each change; never the same settings twice in a row.
  ///
  /// A slow consumer gets the latest settings. If the system allows no thread to watch, the stream ends after
  /// the first.
  package func changes() -> AsyncStream<UserSettings> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: UserSettings.self,
      bufferingPolicy: .bufferingNewest(1)
    )
    if let watcher = watch(\.self, after: nil, { continuation.yield($0) }) {
      continuation.onTermination = { _ in withExtendedLifetime(watcher) {} }
    } else {
      continuation.yield(file.read().settings)
      continuation.finish()
    }
    return stream
  }

  /// Calls back when the user marks a network; changes of other settings are ignored.
  ///
  /// - Returns: The watcher, which calls back until it is released; nil if the system grants no thread.
  package func watchMarks(_ onChange: @escaping @Sendable () -> Void) -> FileWatcher? {
    watch(\.markedNetworks, after: currentSettings().markedNetworks) { _ in onChange() }
  }

  /// Calls back with a part of the settings that differs from the known one, then with each change of it.
  private func watch<Part: Equatable & Sendable>(
    _ part: @escaping @Sendable (UserSettings) -> Part,
    after known: Part?,
    _ onChange: @escaping @Sendable (Part) -> Void
  ) -> FileWatcher? {
    let known = Mutex(known)
    return FileWatcher([file.path]) { [file] in
      let new = part(file.read().settings)
      let isNew = known.withLock { known in
        defer { known = new }
        return known != new
      }
      if isNew { onChange(new) }
    }
  }

  /// The messages about the file that were not taken yet.
  ///
  /// Does not read the file. A message that disappeared and returned is new.
  package func takeWarnings() -> [String] {
    state.withLock { state in
      let warnings = state.snapshot.warnings
      defer { state.reported = Set(warnings) }
      return warnings.filter { !state.reported.contains($0) }
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
  /// - Throws: ``SettingsError``. Nothing then changes.
  package func change(_ changes: [SettingsFile.Change]) throws(SettingsError) {
    keep(try file.change(changes))
  }

  /// Sets one setting to a value that a user typed.
  ///
  /// - Throws: ``SettingsError``. Nothing then changes.
  package func set(_ key: SettingKey, to text: String) throws(SettingsError) { try change([(key, text)]) }

  /// Marks a network as metered or not, or removes its mark, and writes the file before it returns.
  ///
  /// - Throws: ``SettingsError``. Nothing then changes.
  package func mark(_ network: NetworkName, _ metered: Metered?) throws(SettingsError) {
    keep(try file.mark(network, metered))
  }

  private func keep(_ written: SettingsSnapshot) {
    // Another process may have written since. Keep the warnings of this write, and read the settings again.
    state.withLock { ($0.snapshot, $0.stamp) = (written, nil) }
  }

  private func currentSnapshot() -> SettingsSnapshot {
    let stamp = FileStamp(path: file.path)
    if let known = state.withLock({ $0.stamp == stamp ? $0.snapshot : nil }) { return known }
    let isSettled = stamp.isSettled(at: clock())
    let snapshot = file.read()
    state.withLock {
      $0.snapshot = snapshot
      $0.stamp = isSettled && !snapshot.isUnreadable ? stamp : nil
    }
    return snapshot
  }
}
