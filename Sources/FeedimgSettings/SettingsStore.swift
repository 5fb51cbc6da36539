package import FeedimgModel
import FeedimgSystem
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
    var latest = LatestSnapshot()
    /// Nil as long as reading the file each time costs less than watching it.
    var watcher: FileWatcher?
  }

  /// An inotify instance costs the process about 8 ms when it exits (fsnotify's SRCU).
  ///
  /// Reading the file takes 16 µs.
  private static let usualReadingsBeforeWatching = 256

  package let file: SettingsFile
  private let readingsBeforeWatching: Int
  /// Guards the latest snapshot and the watcher.
  ///
  /// The file is read outside the lock.
  private let state = Mutex(State())

  /// Creates a store without opening a file.
  ///
  /// - Parameter folder: The folder of `settings.json`. It need not exist.
  package convenience init(folder: String) {
    self.init(folder: folder, readingsBeforeWatching: Self.usualReadingsBeforeWatching)
  }

  init(folder: String, readingsBeforeWatching: Int) {
    file = SettingsFile(folder: folder)
    self.readingsBeforeWatching = readingsBeforeWatching
  }

  // MARK: Reading

  /// The current settings, including a change that another process just made.
  ///
  /// The first calls read the file. Later calls watch it, and cost one system call unless it changed. An
  /// invalid value counts as not set; see ``takeWarnings()``.
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
    let reported = Mutex<UserSettings?>(nil)
    let watcher = FileWatcher([file.path]) { [file] in
      let settings = file.read().settings
      let isNew = reported.withLock { reported in
        defer { reported = settings }
        return reported != settings
      }
      if isNew { continuation.yield(settings) }
    }
    if let watcher {
      continuation.onTermination = { _ in withExtendedLifetime(watcher) {} }
    } else {
      continuation.yield(file.read().settings)
      continuation.finish()
    }
    return stream
  }

  /// The messages about the file that were not taken yet.
  ///
  /// Does not read the file.
  package func takeWarnings() -> [String] { state.withLock { $0.latest.takeWarnings() }.map(\.message) }

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

  /// Sets one setting to a value that a user typed, and writes the file before it returns.
  ///
  /// - Throws: ``SettingsError``. Nothing then changes.
  package func set(_ key: SettingKey, to text: String) throws(SettingsError) {
    keep(try file.set(key, to: text))
  }

  /// Removes a setting from the file, so that its default applies.
  ///
  /// - Throws: ``SettingsError``. Nothing then changes.
  package func unset(_ key: SettingKey) throws(SettingsError) {
    keep(try file.unset(key))
  }

  /// Marks a network as metered or not, or removes its mark, and writes the file before it returns.
  ///
  /// - Throws: ``SettingsError``. Nothing then changes.
  package func mark(_ network: NetworkName, _ metered: Metered?) throws(SettingsError) {
    keep(try file.mark(network, metered))
  }

  var isWatching: Bool { state.withLock { $0.watcher != nil } }

  private func keep(_ written: SettingsSnapshot) {
    state.withLock { state in
      let number = state.latest.beginReading()
      _ = state.latest.endReading(number, written)
      // Another process may have written since. Keep the warnings of this write, and read the settings again.
      state.latest.invalidate()
    }
  }

  private func currentSnapshot() -> SettingsSnapshot {
    if let known = knownSnapshot() { return known }
    let number = state.withLock { $0.latest.beginReading() }
    let snapshot = file.read()
    return state.withLock { $0.latest.endReading(number, snapshot) }
  }

  /// The latest snapshot, if the watcher confirms that it is current.
  private func knownSnapshot() -> SettingsSnapshot? {
    let (readings, watcher) = state.withLock { ($0.latest.readings, $0.watcher) }
    guard let watcher else {
      if readings >= readingsBeforeWatching { beginWatching() }
      return nil
    }
    let hasChanged = watcher.hasChanged()
    return state.withLock { state in
      if hasChanged { state.latest.invalidate() }
      return state.latest.isCurrent ? state.latest.snapshot : nil
    }
  }

  private func beginWatching() {
    let watcher = FileWatcher([file.path])
    state.withLock { state in
      guard state.watcher == nil else { return }
      state.watcher = watcher
      state.latest.invalidate()
    }
  }
}

/// Keeps the latest snapshot.
///
/// Threads may read at the same time and finish in any order.
struct LatestSnapshot: Sendable {
  private(set) var snapshot: SettingsSnapshot?
  private var order = ReadingOrder()
  private var reported: Set<SettingsWarning> = []

  /// Whether the file has not changed since the reading started.
  var isCurrent: Bool { order.isCurrent }

  /// The number of readings that have started.
  var readings: Int { order.count }

  /// Marks the file as changed: only readings that start after this call are current.
  mutating func invalidate() { order.invalidate() }

  mutating func beginReading() -> Int { order.begin() }

  /// Keeps a snapshot unless a later one exists.
  ///
  /// - Returns: The latest snapshot.
  mutating func endReading(_ number: Int, _ snapshot: SettingsSnapshot) -> SettingsSnapshot {
    if order.end(number) { self.snapshot = snapshot }
    return self.snapshot ?? snapshot
  }

  /// The warnings of the latest snapshot that were not taken yet.
  ///
  /// A warning that disappeared and returned is new.
  mutating func takeWarnings() -> [SettingsWarning] {
    let warnings = snapshot?.warnings ?? []
    defer { reported = Set(warnings) }
    return warnings.filter { !reported.contains($0) }
  }
}
