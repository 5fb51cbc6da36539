package import FeedimgModel
import FeedimgSystem
import Synchronization

/// The settings of the user, kept in a file that other processes change too.
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
    var latest = LatestReadout()
    /// Nil while reading the file each time is cheaper.
    var watcher: FileWatcher?
  }

  /// Opening an inotify instance costs a process some 8 ms at its end (fsnotify's SRCU); reading the file costs 16 µs.
  private static let usualReadingsBeforeWatching = 256

  package let file: SettingsFile
  private let readingsBeforeWatching: Int
  /// Guards the latest readout and the watcher; the file is read outside.
  private let state = Mutex(State())

  /// Opens nothing yet.
  ///
  /// - Parameter folder: The folder of `settings.json`; need not exist.
  package convenience init(folder: String) {
    self.init(folder: folder, readingsBeforeWatching: Self.usualReadingsBeforeWatching)
  }

  init(folder: String, readingsBeforeWatching: Int) {
    file = SettingsFile(folder: folder)
    self.readingsBeforeWatching = readingsBeforeWatching
  }

  // MARK: Reading

  /// The settings now, also right after another process changed them.
  ///
  /// The first calls read the file; later ones watch it, and cost one system call unless it changed. An invalid value
  /// counts as not set, see ``takeWarnings()``.
  package func currentSettings() -> UserSettings { currentReadout().settings }

  /// The settings at once, then after each change; never the same twice in a row.
  ///
  /// A slow consumer gets the latest. Where the system grants no thread to watch, the stream ends after the first.
  package func changes() -> AsyncStream<UserSettings> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: UserSettings.self,
      bufferingPolicy: .bufferingNewest(1)
    )
    let told = Mutex<UserSettings?>(nil)
    let watcher = FileWatcher([file.path]) { [file] in
      let settings = file.read().settings
      let isNew = told.withLock { told in
        defer { told = settings }
        return told != settings
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

  /// The messages about the file that were not taken before; reads nothing.
  package func takeWarnings() -> [String] { state.withLock { $0.latest.takeWarnings() }.map(\.message) }

  /// The value in force of a setting.
  package func value(of key: SettingKey) -> String { key.value(in: currentSettings()) }

  /// All settings, in the order of ``SettingKey``.
  package func entries() -> [Entry] {
    let readout = currentReadout()
    return SettingKey.allCases.map { key in
      Entry(key: key, value: key.value(in: readout.settings), isSet: readout.stored.contains(key))
    }
  }

  // MARK: Changing

  /// Sets one setting to a value as a person types it; the file holds it when this returns.
  ///
  /// - Throws: ``SettingsError``; nothing is then changed.
  package func set(_ key: SettingKey, to text: String) throws(SettingsError) {
    keep(try file.set(key, to: text))
  }

  /// Removes a setting from the file, so that its default holds.
  ///
  /// - Throws: ``SettingsError``; nothing is then changed.
  package func unset(_ key: SettingKey) throws(SettingsError) {
    keep(try file.unset(key))
  }

  /// Marks a network as metered or not, or removes its mark; the file holds it when this returns.
  ///
  /// - Throws: ``SettingsError``; nothing is then changed.
  package func mark(_ network: NetworkName, _ metered: Metered?) throws(SettingsError) {
    keep(try file.mark(network, metered))
  }

  var isWatching: Bool { state.withLock { $0.watcher != nil } }

  private func keep(_ written: SettingsReadout) {
    state.withLock { state in
      let number = state.latest.beginReading()
      _ = state.latest.endReading(number, written)
      // Another process may have written since: the warnings are of this write, the settings are read again.
      state.latest.invalidate()
    }
  }

  private func currentReadout() -> SettingsReadout {
    if let known = knownReadout() { return known }
    let number = state.withLock { $0.latest.beginReading() }
    let readout = file.read()
    return state.withLock { $0.latest.endReading(number, readout) }
  }

  /// The latest readout, if the watcher says that it still holds.
  private func knownReadout() -> SettingsReadout? {
    let (readings, watcher) = state.withLock { ($0.latest.readings, $0.watcher) }
    guard let watcher else {
      if readings >= readingsBeforeWatching { beginWatching() }
      return nil
    }
    let hasChanged = watcher.hasChanged()
    return state.withLock { state in
      if hasChanged { state.latest.invalidate() }
      return state.latest.isCurrent ? state.latest.readout : nil
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

/// The latest of several readouts, which threads may read at once and end in any order (pure).
///
/// Each reading takes a number when it begins; a higher number has seen all that a lower one has.
struct LatestReadout: Sendable {
  private(set) var readout: SettingsReadout?
  private var number = 0
  private var lastNumber = 0
  private var neededNumber = 1
  private var told: Set<SettingsWarning> = []

  /// Whether the file did not change since the reading began.
  var isCurrent: Bool { number >= neededNumber }

  /// The number of readings that have begun.
  var readings: Int { lastNumber }

  /// The file has changed: only readings that begin after this call are current.
  mutating func invalidate() { neededNumber = lastNumber + 1 }

  mutating func beginReading() -> Int {
    lastNumber += 1
    return lastNumber
  }

  /// Keeps a readout unless there is a later one.
  ///
  /// - Returns: The latest of them.
  mutating func endReading(_ number: Int, _ readout: SettingsReadout) -> SettingsReadout {
    if number > self.number || self.readout == nil { (self.number, self.readout) = (number, readout) }
    return self.readout ?? readout
  }

  /// The warnings of the latest readout that were not taken before; one that went away and came back is new.
  mutating func takeWarnings() -> [SettingsWarning] {
    let warnings = readout?.warnings ?? []
    defer { told = Set(warnings) }
    return warnings.filter { !told.contains($0) }
  }
}
