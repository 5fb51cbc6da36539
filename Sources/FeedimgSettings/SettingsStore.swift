package import FeedimgModel
import Synchronization

/// The settings of the user, kept in a file, and always as they are now.
package final class SettingsStore: SettingsReading {
  /// One setting as a list shows it.
  package struct Entry: Sendable, Hashable {
    package var key: SettingKey
    /// The value in force.
    package var value: String
    /// Whether the user has set it; if not, ``value`` is the default.
    package var isSet: Bool
  }

  private struct State {
    var ledger = ReadoutLedger()
    var watching = Watching.notYet
  }

  private enum Watching {
    case notYet
    case by(SettingsWatch)
    /// The system grants none.
    case never
  }

  /// Closing an inotify descriptor takes the kernel some 8 ms when the process ends (it waits for all who may still
  /// look at the watch, fsnotify's SRCU), and reading the file some 16 µs: with fewer readings, a watch costs more than
  /// it saves.
  private static let usualReadingsBeforeWatching = 256

  package let file: SettingsFile
  private let readingsBeforeWatching: Int
  private let monitor: SettingsMonitor
  /// What has been read, and the watch that tells when to read again.
  private let state = Mutex(State())

  /// - Parameter folder: The folder of `settings.json`; need not exist. Nothing is opened before it is needed.
  package convenience init(folder: String) {
    self.init(folder: folder, readingsBeforeWatching: Self.usualReadingsBeforeWatching)
  }

  init(folder: String, readingsBeforeWatching: Int) {
    file = SettingsFile(folder: folder)
    monitor = SettingsMonitor(file: file)
    self.readingsBeforeWatching = readingsBeforeWatching
  }

  /// The settings as they are now, also when another process has just changed them.
  ///
  /// Reads the file each time, as a process that asks a few times needs no watch; one that asks often watches, and
  /// from then on a call is one system call unless something has changed. What cannot be used counts as not set, see
  /// ``takeWarnings()``.
  package func currentSettings() -> UserSettings { currentReadout().settings }

  /// The present settings at once, then whenever they change; never the same twice in a row.
  ///
  /// Who takes them slowly gets the latest. Ends when the consumer leaves; with the last of them the thread that
  /// waits for changes ends.
  package func changes() -> AsyncStream<UserSettings> { monitor.changes() }

  /// What tells a thread that waits for several things that the file may have changed.
  ///
  /// - Returns: Nil where the system grants no watch.
  package func watch() -> SettingsWatch? {
    FileBell().flatMap { SettingsWatch(path: FilePath(file.path), bell: $0) }
  }

  /// What the user should know of the file, each thing once; asks nothing of the disk.
  package func takeWarnings() -> [String] { state.withLock { $0.ledger.takeWarnings() }.map(\.message) }

  /// The value in force of a setting.
  package func value(of key: SettingKey) -> String { key.value(in: currentSettings()) }

  /// All settings, in the order of ``SettingKey``.
  package func entries() -> [Entry] {
    let readout = currentReadout()
    return SettingKey.allCases.map { key in
      Entry(key: key, value: key.value(in: readout.settings), isSet: readout.stored.contains(key))
    }
  }

  /// Sets one setting to a value as a person types it; the file holds it when this returns.
  ///
  /// - Throws: ``SettingsError``; nothing is then changed.
  package func set(_ key: SettingKey, to text: String) throws(SettingsError) {
    keep(try file.set(key, to: text))
  }

  /// Takes a setting out of the file, so that its default holds.
  ///
  /// - Throws: ``SettingsError``; nothing is then changed.
  package func unset(_ key: SettingKey) throws(SettingsError) {
    keep(try file.unset(key))
  }

  /// Marks a network as metered or not, or takes its mark away; the file holds it when this returns.
  ///
  /// - Throws: ``SettingsError``; nothing is then changed.
  package func mark(_ network: NetworkName, _ metered: Metered?) throws(SettingsError) {
    keep(try file.mark(network, metered))
  }

  var isWatching: Bool {
    state.withLock { if case .by = $0.watching { true } else { false } }
  }

  var isWaiting: Bool { monitor.isWaiting }

  private func keep(_ written: SettingsReadout) {
    state.withLock { state in
      let number = state.ledger.beginReading()
      _ = state.ledger.endReading(number, written)
      // Another may have written right after: the warnings are this one's, the settings are read again.
      state.ledger.invalidate()
    }
  }

  private func currentReadout() -> SettingsReadout {
    if let known = knownReadout() { return known }
    let number = state.withLock { $0.ledger.beginReading() }
    let readout = file.read()
    return state.withLock { $0.ledger.endReading(number, readout) }
  }

  /// What was read before, where it is sure to hold still.
  private func knownReadout() -> SettingsReadout? {
    let (readings, watching) = state.withLock { ($0.ledger.readings, $0.watching) }
    switch watching {
    case .notYet:
      if readings >= readingsBeforeWatching { beginWatching() }
      return nil
    case .never:
      return nil
    case .by(let watch):
      let hasChanged = watch.hasChanged()
      return state.withLock { state in
        if hasChanged { state.ledger.invalidate() }
        return state.ledger.isCurrent ? state.ledger.latest : nil
      }
    }
  }

  private func beginWatching() {
    let watching = SettingsWatch(path: FilePath(file.path)).map(Watching.by) ?? .never
    state.withLock { state in
      guard case .notYet = state.watching else { return }
      state.watching = watching
      state.ledger.invalidate()
    }
  }
}
