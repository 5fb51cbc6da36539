package import FeedimgPolicy
import FeedimgSettings
import FeedimgSystem
import Synchronization

/// The policy that a loader uses: the current version of its file, or the last valid one.
///
/// Most calls only read the timestamps of a few files. After frequent calls, a watcher reports changes
/// instead. The next caller reads a changed file again in full.
package final class PolicyInForce: Sendable {
  private struct State {
    var chosen: PolicySelection.Chosen
    /// The result of the choice, with the refused sources.
    var choice: PolicySelection.Choice
    var readings: [PolicyReading]
    var stamps: [FileStamp]
    /// Whether the stamps would show every later change.
    var isSettled: Bool
    /// Threads may look at the files at the same time.
    var looks = ReadingOrder()
    var polling = PolicyCheckSchedule()
    /// The watcher; nil before calls are frequent.
    var watcher: FileWatcher?
    var warnings: [String] = []
    /// Whether another part of the program needs the cost of data.
    var isCostRequired = false
    var onChange: (@Sendable () -> Void)?
  }

  /// The policies of this machine, the one in force included.
  let catalog: PolicyCatalog
  private let selection: PolicySelection
  private let clock: @Sendable () -> Double
  /// Guards the state; files are read and tables checked outside the lock.
  private let state: Mutex<State>

  /// Reads the policy.
  ///
  /// - Throws: ``PolicyFault`` if no source holds a valid policy.
  init(
    _ selection: PolicySelection,
    on catalog: PolicyCatalog,
    clock: @escaping @Sendable () -> Double
  ) throws(PolicyFault) {
    self.catalog = catalog
    self.selection = selection
    self.clock = clock
    let stamps = selection.stamps()
    let isSettled = Self.isSettled(stamps, clock)
    let readings = selection.read(stamps)
    let choice = selection.choose(readings)
    guard let chosen = choice.chosen else { throw choice.fault }
    state = Mutex(
      State(
        chosen: chosen,
        choice: choice,
        readings: readings,
        stamps: stamps,
        isSettled: isSettled,
        warnings: choice.warnings
      )
    )
  }

  /// Reads the policy that a configuration chooses.
  ///
  /// - Throws: ``ConfigurationError`` if the policy is missing or invalid.
  package convenience init(
    _ policy: ImageLoader.Configuration.Policy,
    on catalog: PolicyCatalog
  ) throws(ConfigurationError) {
    do throws(PolicyFault) {
      try self.init(try catalog.selection(of: policy), on: catalog, clock: SystemClock.seconds)
    } catch {
      throw ConfigurationError(error.messages)
    }
  }

  /// The paths of all files that may hold the policy now or later.
  var paths: [String] { selection.sources.compactMap { $0.file?.path } }

  /// Returns the current policy.
  package func current() -> CompiledPolicy {
    refresh()
    return state.withLock { $0.chosen.policy }
  }

  /// Calls back when another policy comes into force, on the thread that found the change.
  func listen(_ onChange: @escaping @Sendable () -> Void) { state.withLock { $0.onChange = onChange } }

  /// Whether the cost of data must be read: for this policy, for another one in use, or for a transfer.
  package var needsCost: Bool { state.withLock { $0.isCostRequired || $0.chosen.policy.needsCost } }

  /// Reads the cost of data from now on.
  ///
  /// - Returns: Whether the cost was not read before.
  @discardableResult
  package func requireCost() -> Bool {
    state.withLock { state in
      defer { state.isCostRequired = true }
      return !state.isCostRequired && !state.chosen.policy.needsCost
    }
  }

  /// Returns the source of the policy, and the state of the other sources.
  func status() -> PolicyStatus {
    refresh()
    let state = state.withLock { $0 }
    return PolicyStatus(selection, state.readings, state.choice, state.chosen)
  }

  /// Returns the warnings for the user, each once.
  func takeWarnings() -> [String] {
    state.withLock { state in
      defer { state.warnings = [] }
      return state.warnings
    }
  }

  private func refresh() {
    let (watcher, isBusy) = state.withLock { ($0.watcher, $0.polling.isBusy) }
    if watcher == nil, isBusy { beginWatching() }
    let hasChanged = watcher?.hasChanged() ?? true
    let now = clock()
    let isDue = state.withLock { state in
      if state.polling.shouldCheck(hasChanged, isSettled: state.isSettled, at: now) {
        state.looks.invalidate()
      }
      return !state.looks.isCurrent
    }
    if isDue { look() }
  }

  /// Starts to watch; the files are checked after that, so that no change is missed.
  private func beginWatching() {
    let watcher = FileWatcher(paths)
    state.withLock { $0.watcher = $0.watcher ?? watcher }
  }

  private func look() {
    let number = state.withLock { $0.looks.begin() }
    let stamps = selection.stamps()
    let isSettled = Self.isSettled(stamps, clock)
    let old = state.withLock { state -> State? in
      guard stamps == state.stamps, state.isSettled else { return state }
      _ = state.looks.end(number)
      return nil
    }
    guard let old else { return }
    let readings = selection.read(stamps)
    // The files may only have been touched, or checked again because a change might not have shown.
    let choice = readings == old.readings ? nil : selection.choose(readings, keeping: old.chosen)
    var isOvertaken = false
    let onChange = state.withLock { state -> (@Sendable () -> Void)? in
      // Another look may have made a choice since the comparison.
      isOvertaken = choice == nil && state.readings != readings
      guard !isOvertaken, state.looks.end(number) else { return nil }
      (state.stamps, state.isSettled, state.readings) = (stamps, isSettled, readings)
      guard let choice, let chosen = choice.chosen else { return nil }
      state.chosen = chosen
      state.choice = choice
      state.warnings += choice.warnings
      return state.onChange
    }
    onChange?()
    if isOvertaken { look() }
  }

  private static func isSettled(_ stamps: [FileStamp], _ clock: () -> Double) -> Bool {
    let now = clock()
    return stamps.allSatisfy { $0.isSettled(at: now) }
  }
}

/// Decides when to check the files of a policy (pure).
///
/// A program that asks a few times checks each time, because a watcher costs more than it saves. A program
/// that asks often, such as a service, watches the files and checks them after a change. It also checks once
/// a second, for changes that a watcher misses: a replaced parent folder, or a write by another machine.
struct PolicyCheckSchedule: Sendable {
  /// The number of checks before watching starts; see ``SettingsStore``.
  static let checksBeforeWatching = 256
  /// The longest time between two checks, in seconds.
  static let longestRest = 1.0

  private var looks = 0
  private var lookedAt = -Double.infinity

  /// Whether calls are frequent enough to watch the files.
  var isBusy: Bool { looks >= Self.checksBeforeWatching }

  /// Records that a decision needs the policy.
  ///
  /// - Parameters:
  ///   - hasChanged: Whether the watcher reports a change, or there is no watcher.
  ///   - isSettled: Whether the stamps would show every change since the last check.
  ///   - now: Seconds since 1970, which may jump.
  /// - Returns: Whether to check the files now.
  mutating func shouldCheck(_ hasChanged: Bool, isSettled: Bool, at now: Double) -> Bool {
    guard hasChanged || !isSettled || !(0..<Self.longestRest ~= now - lookedAt) else { return false }
    lookedAt = now
    if !isBusy { looks += 1 }
    return true
  }
}
