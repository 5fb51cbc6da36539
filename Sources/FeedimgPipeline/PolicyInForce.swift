package import FeedimgPolicy
import FeedimgSettings
import FeedimgSystem
import Synchronization

/// The policy that a loader decides by: as its file is now, or as it last was in order.
///
/// Asks the system for nothing but the marks of a few files, and where it is asked for often, only whether anything has
/// happened to them; a file that has changed is read again as a whole, by whoever asks next.
package final class PolicyInForce: Sendable {
  private struct State {
    var chosen: PolicySelection.Chosen
    /// How that came to be.
    var choice: PolicySelection.Choice
    var readings: [PolicyReading]
    var stamps: [FileStamp]
    /// Whether any later change would show in the stamps.
    var isSettled: Bool
    /// Whether a thread is reading; others decide by what there is.
    var isReading = false
    /// Whether it is worth a look.
    var polling = PolicyPolling()
    /// Nil before files are asked for often.
    var watcher: FileWatcher?
    var warnings: [String] = []
    /// Whether what data costs matters besides.
    var isCostAskedFor = false
    var onChange: (@Sendable () -> Void)?
  }

  /// Where the policy was found, and where others can be found.
  let shelf: PolicyShelf
  private let selection: PolicySelection
  private let clock: @Sendable () -> Double
  /// Guards what is in force; files are read and tables checked outside.
  private let state: Mutex<State>

  /// Reads the policy.
  ///
  /// - Throws: ``PolicyFault`` where no source holds one that is in order.
  init(
    _ selection: PolicySelection,
    on shelf: PolicyShelf,
    clock: @escaping @Sendable () -> Double
  ) throws(PolicyFault) {
    self.shelf = shelf
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

  /// The policy that a configuration asks for.
  ///
  /// - Throws: ``ConfigurationError`` where there is none, or none that is in order.
  package convenience init(
    _ policy: ImageLoader.Configuration.Policy,
    on shelf: PolicyShelf
  ) throws(ConfigurationError) {
    do throws(PolicyFault) {
      try self.init(try shelf.selection(of: policy), on: shelf, clock: SystemClock.seconds)
    } catch {
      throw ConfigurationError(error.messages)
    }
  }

  /// A file in each folder that it may come from, or might come to stand in.
  var files: [String] {
    var folders: Set<Substring> = []
    return selection.sources.compactMap { $0.file?.path }.filter { path in
      folders.insert(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]).inserted
    }
  }

  /// The policy as it is now.
  package func current() -> CompiledPolicy {
    refresh()
    return state.withLock { $0.chosen.policy }
  }

  /// Has somebody told when another policy has come into force, whoever found that out.
  func listen(_ onChange: @escaping @Sendable () -> Void) { state.withLock { $0.onChange = onChange } }

  /// Whether what data costs matters: to the policy as it was last asked for, to another one that somebody decides by
  /// besides, or to who transfers something.
  package var asksAboutCost: Bool { state.withLock { $0.isCostAskedFor || $0.chosen.policy.asksAboutCost } }

  /// Has it be known what data costs, from now on.
  ///
  /// - Returns: Whether it was not before.
  @discardableResult
  package func askAboutCost() -> Bool {
    state.withLock { state in
      defer { state.isCostAskedFor = true }
      return !state.isCostAskedFor && !state.chosen.policy.asksAboutCost
    }
  }

  /// Where the policy came from, and what became of the other places.
  func standing() -> PolicyStanding {
    refresh()
    let state = state.withLock { $0 }
    return PolicyStanding(selection, state.readings, state.choice, state.chosen)
  }

  /// What the user should know, each thing once.
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
      state.polling.mustLook(hasChanged, isSettled: state.isSettled, isLooking: state.isReading, at: now)
    }
    if isDue { look() }
  }

  /// Watches, and has the files looked at after that.
  private func beginWatching() {
    let watcher = FileWatcher(selection.sources.compactMap { $0.file?.path })
    state.withLock { $0.watcher = $0.watcher ?? watcher }
  }

  private func look() {
    let stamps = selection.stamps()
    let isSettled = Self.isSettled(stamps, clock)
    let old = state.withLock { state -> State? in
      // Who reads may have begun before what was seen here.
      if state.isReading { state.polling.note() }
      guard !state.isReading, stamps != state.stamps || !state.isSettled else { return nil }
      state.isReading = true
      return state
    }
    guard let old else { return }
    let readings = selection.read(stamps)
    // It may have been touched only, or looked at again because a change might not have shown.
    let choice = readings == old.readings ? nil : selection.choose(readings, keeping: old.chosen)
    let onChange = state.withLock { state -> (@Sendable () -> Void)? in
      state.isReading = false
      (state.stamps, state.isSettled, state.readings) = (stamps, isSettled, readings)
      guard let choice, let chosen = choice.chosen else { return nil }
      state.chosen = chosen
      state.choice = choice
      state.warnings += choice.warnings
      return state.onChange
    }
    onChange?()
  }

  private static func isSettled(_ stamps: [FileStamp], _ clock: () -> Double) -> Bool {
    let now = clock()
    return stamps.allSatisfy { $0.isSettled(at: now) }
  }
}

/// Says whether the files of a policy are worth a look (pure).
///
/// A program that asks a few times looks each time, because a watch costs more than it saves. A program that asks often,
/// such as a service, watches and looks after a change. It also looks once a second, for changes that no watch tells:
/// a folder above was replaced, or another machine changed the file.
struct PolicyPolling: Sendable {
  /// See ``SettingsStore``.
  static let looksBeforeWatching = 256
  /// In seconds.
  static let longestRest = 1.0

  private var looks = 0
  private var lookedAt = -Double.infinity
  private var isDirty = true

  /// Whether it is time to watch.
  var isBusy: Bool { looks >= Self.looksBeforeWatching }

  /// Takes note that something may have happened that was not read.
  mutating func note() { isDirty = true }

  /// Takes note that a decision asks for the policy.
  ///
  /// - Parameters:
  ///   - hasChanged: What the watch says; true where there is none.
  ///   - isSettled: Whether any change since the last look would have shown.
  ///   - isLooking: Whether another one looks now, so that nobody else does.
  ///   - now: Seconds since 1970; may jump.
  /// - Returns: Whether to look now; what has happened is forgotten only then.
  mutating func mustLook(_ hasChanged: Bool, isSettled: Bool, isLooking: Bool, at now: Double) -> Bool {
    isDirty = isDirty || hasChanged || !isSettled || !(0..<Self.longestRest ~= now - lookedAt)
    guard isDirty, !isLooking else { return false }
    (isDirty, lookedAt) = (false, now)
    if !isBusy { looks += 1 }
    return true
  }
}
