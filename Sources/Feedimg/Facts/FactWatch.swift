import FeedimgModel
import FeedimgPolicy
import FeedimgSettings
import Synchronization

/// Tells when what decisions depend on has changed: the network, the settings, the policy, or whether anything gets
/// through.
///
/// Nothing is watched before somebody listens, nor after a ``rest()``.
final class FactWatch: Sendable {
  struct Listener {
    let priority: @Sendable () -> LoadPriority
    let onChange: @Sendable () -> Void
  }

  struct State {
    var listeners: [Int: Listener] = [:]
    var issued = 0
    var tasks: [Task<Void, Never>] = []
    var policyTasks: [Task<Void, Never>] = []
    var policy: PolicyTable?
    var trial: Task<Void, Never>?
    var network: NetworkState?
    var settings: UserSettings?
    /// How many changes were told of; a rest, in which none is, counts as one.
    var changes = 0
    var isWatching = false
    var isStopped = false
    var followsBattery = false
    /// Which watch this is; what an earlier one tells late, though it was ended, is no news.
    var watches = 0
  }

  let network: any NetworkMonitoring
  private let settings: any SettingsReading
  let time: MonotonicTime
  let failures: FailureDesk
  let glimpses: GlimpseVigil
  /// The charge in percent; nil without a battery, and where the policy does not ask.
  let battery: @Sendable () -> Int?
  private let onState: @Sendable (NetworkState) -> Void
  let onNetwork: @Sendable (NetworkState) -> @Sendable () -> Void
  /// Guards who listens, and what was told last; listeners are called outside.
  let state = Mutex(State())

  /// - Parameters:
  ///   - network: Tells how packets go.
  ///   - settings: What the user wants.
  ///   - time: For waits.
  ///   - failures: Tells when nothing gets through.
  ///   - battery: The charge in percent; nil without a battery, and where the policy does not ask.
  ///   - onState: Called before anything else with what the network is, at first and on every change, also of its
  ///     price alone.
  ///   - onNetwork: Called before any listener when packets go another way, and at first. What it returns is called
  ///     after all of them, for what is still wanted, if that way leads anywhere.
  init(
    network: any NetworkMonitoring,
    settings: any SettingsReading,
    time: MonotonicTime,
    failures: FailureDesk,
    battery: @escaping @Sendable () -> Int? = { nil },
    onState: @escaping @Sendable (NetworkState) -> Void = { _ in },
    onNetwork: @escaping @Sendable (NetworkState) -> @Sendable () -> Void
  ) {
    self.network = network
    self.settings = settings
    self.time = time
    self.battery = battery
    self.failures = failures
    glimpses = GlimpseVigil(time)
    (self.onState, self.onNetwork) = (onState, onNetwork)
  }

  /// Calls on every change, those first whose need is most urgent then.
  ///
  /// - Parameters:
  ///   - priority: Asked at each change.
  ///   - onChange: Must not wait for anything.
  /// - Returns: The number to leave with.
  func listen(
    priority: @escaping @Sendable () -> LoadPriority,
    _ onChange: @escaping @Sendable () -> Void
  ) -> Int {
    let (number, isFirst) = state.withLock { state in
      state.issued += 1
      let isFirst = state.listeners.isEmpty
      state.listeners[state.issued] = Listener(priority: priority, onChange: onChange)
      return (state.issued, isFirst)
    }
    watch()
    if isFirst { setTrial() }
    return number
  }

  /// Watches from now on, for who sends something over connections that were made before.
  func watch() {
    let isFirst = state.withLock { state in
      defer { state.isWatching = true }
      return !state.isWatching && !state.isStopped
    }
    if isFirst { start() }
  }

  /// Watches no longer until somebody listens again; nothing happens while anybody does.
  ///
  /// What has changed meanwhile counts as soon as it is watched again.
  func rest() {
    let tasks = state.withLock { state in
      guard state.listeners.isEmpty, state.policy == nil else { return [Task<Void, Never>]() }
      state.changes += 1
      state.watches += 1
      defer { (state.tasks, state.isWatching) = ([], state.isStopped) }
      return state.tasks
    }
    if !tasks.isEmpty { glimpses.told() }
    for task in tasks { task.cancel() }
  }

  /// Which change was told last; nil where none would be told, as nobody watches.
  var standing: Int? { state.withLock { $0.tasks.isEmpty ? nil : $0.changes } }

  func leave(_ number: Int) {
    let trial = state.withLock { state -> Task<Void, Never>? in
      state.listeners[number] = nil
      guard state.listeners.isEmpty else { return nil }
      defer { state.trial = nil }
      return state.trial
    }
    trial?.cancel()
  }

  /// Whether a dead network is to be tried again some time.
  var awaitsTrial: Bool { state.withLock { $0.trial != nil } }

  /// How many listen.
  var listenerCount: Int { state.withLock { $0.listeners.count } }

  /// Watches the files that the policy may come from as well; for what is shown for long.
  func watchPolicy(_ policy: PolicyInForce) {
    guard state.withLock({ $0.policy == nil && !$0.isStopped }) else { return }
    // Who decides meanwhile may be the one who reads it, and then what the files tell here is still the old one.
    policy.listen { [weak self, weak policy] in
      Task { if let self, let policy { self.note(policy.current().table) } }
    }
    let table = policy.current().table
    let isFirst = state.withLock { state in
      guard state.policy == nil, !state.isStopped else { return false }
      state.policy = table
      return true
    }
    guard isFirst else { return }
    let tasks = policy.files.map { path in
      let changes = FileChanges.of(path)
      return Task { [weak self] in for await _ in changes { self?.note(policy.current().table) } }
    }
    let isStopped = state.withLock { state in
      if !state.isStopped { state.policyTasks = tasks }
      return state.isStopped
    }
    if isStopped { for task in tasks { task.cancel() } }
  }

  /// Watches no longer.
  func stop() {
    let tasks = state.withLock { state in
      state.isStopped = true
      defer { (state.tasks, state.policyTasks, state.trial) = ([], [], nil) }
      return state.tasks + state.policyTasks + [state.trial].compactMap { $0 }
    }
    failures.listen(nil)
    glimpses.told()
    for task in tasks { task.cancel() }
  }

  /// Tells everybody, as something has changed that nobody watches.
  func tell() {
    let listeners = state.withLock { state in
      state.changes += 1
      return state.listeners.sorted { $0.key < $1.key }.map(\.value)
    }
    let urgent = listeners.map { (priority: $0.priority(), onChange: $0.onChange) }
    for priority in LoadPriority.allCases.reversed() {
      for listener in urgent where listener.priority == priority { listener.onChange() }
    }
  }

  private func start() {
    let (states, changes) = (network.states(), settings.changes())
    let (now, current) = (network.currentState(), settings.currentSettings())
    let old = state.withLock { state in
      let old = (network: state.network, settings: state.settings, tasks: state.tasks)
      (state.network, state.settings) = (now, current)
      guard !state.isStopped else { return old }
      state.watches += 1
      state.followsBattery = false
      let watch = state.watches
      state.tasks = [
        Task { [weak self] in for await state in states { self?.note(state, of: watch) } },
        Task { [weak self] in for await settings in changes { self?.note(settings, of: watch) } },
      ]
      return old
    }
    for task in old.tasks { task.cancel() }
    onState(now)
    let isSamePath = old.network?.isSamePath(as: now)
    // What changed during a rest.
    if let isSamePath, !isSamePath || old.settings != current { failures.reset() }
    let move = isSamePath == true ? nil : onNetwork(now)
    if isSamePath == false, now.isReachable { move?() }
    failures.listen { [weak self] in self?.turned() }
    followBattery()
  }

  private func note(_ new: NetworkState, of watch: Int) {
    let old = state.withLock { state -> NetworkState? in
      guard state.watches == watch else { return nil }
      defer { state.network = new }
      return state.network
    }
    guard let old, old != new else { return }
    glimpses.told()
    onState(new)
    var move: (@Sendable () -> Void)?
    if !old.isSamePath(as: new) {
      failures.reset()
      move = onNetwork(new)
    }
    tell()
    if new.isReachable { move?() }
  }

  private func note(_ new: UserSettings, of watch: Int) {
    let old = state.withLock { state -> UserSettings? in
      guard state.watches == watch else { return nil }
      defer { state.settings = new }
      return state.settings
    }
    guard let old, old != new else { return }
    // What was too large may no longer be.
    failures.reset()
    tell()
  }

  private func note(_ new: PolicyTable) {
    let old = state.withLock { state in
      defer { state.policy = new }
      return state.policy
    }
    guard old != new else { return }
    followBattery()
    tell()
  }

  /// The network turned out to be dead, or not to be.
  private func turned() {
    tell()
    setTrial()
  }

  /// Lets loads be decided anew whenever it is time to try a dead network again, as long as anybody listens.
  private func setTrial() {
    let sleep = time.sleep
    let old = state.withLock { state in
      let old = state.trial
      // Under the lock, or what was so a moment ago might take the place of what is so now.
      state.trial = failures.trial.flatMap { wait in
        state.isStopped || state.listeners.isEmpty
          ? nil
          : Task { [weak self] in
            guard (try? await sleep(wait)) != nil, !Task.isCancelled else { return }
            self?.tryAgain()
          }
      }
      return old
    }
    old?.cancel()
  }

  private func tryAgain() {
    // Otherwise somebody has tried meanwhile, in vain.
    if !failures.isOffline { tell() }
    setTrial()
  }
}

extension NetworkState {
  /// Whether packets go the same way, whatever it costs by now.
  func isSamePath(as other: NetworkState) -> Bool {
    (kind, route, isReachable) == (other.kind, other.route, other.isReachable) && via == other.via
  }
}
