import FeedimgModel
import FeedimgPolicy
import FeedimgSettings
import FeedimgSystem
import Synchronization

/// Reports changes of the facts that decisions depend on.
///
/// These are the network, the settings, the policy, whether the network carries data, and ``PolledFacts``. The
/// monitor starts with its first listener and pauses after ``rest()``.
@PipelineActor package final class FactMonitor {
  private nonisolated let network: any NetworkMonitoring
  private nonisolated let settings: any SettingsReading
  private nonisolated let retries: RetryController
  private nonisolated let onState: @Sendable (NetworkState) -> Void
  private nonisolated let onNetwork:
    @PipelineActor @Sendable (NetworkState) -> @PipelineActor @Sendable () -> Void
  /// Guards the generation, which other threads read.
  private nonisolated let publicGeneration = Mutex<Int?>(nil)
  private nonisolated let flaps: NetworkFlapFilter
  private nonisolated let poller: FactPoller
  nonisolated let probe: DeadNetworkProbe

  private(set) var listeners = FactListeners()
  /// The tasks that follow the network and the settings; empty while the monitor does not watch.
  private var tasks: [Task<Void, Never>] = []
  private var policy: (table: PolicyTable, watcher: FileWatcher?)?
  private var last: (network: NetworkState, settings: UserSettings)?
  /// The number of reported changes; a pause counts as one.
  private var changes = 0

  /// Makes a monitor, whose closures are called before the listeners.
  ///
  /// `onState` gets each network state, even if only its cost changed. `onNetwork` is called at the start and
  /// when the network path changes; its result is called after the listeners, if the new path is reachable.
  nonisolated init(
    network: any NetworkMonitoring,
    settings: any SettingsReading,
    time: MonotonicTime,
    retries: RetryController,
    polled: @escaping @Sendable () -> PolledFacts = { PolledFacts() },
    onState: @escaping @Sendable (NetworkState) -> Void,
    onNetwork: @escaping @PipelineActor @Sendable (NetworkState) -> @PipelineActor @Sendable () -> Void
  ) {
    (self.network, self.settings, self.retries) = (network, settings, retries)
    (self.onState, self.onNetwork) = (onState, onNetwork)
    flaps = NetworkFlapFilter(time)
    poller = FactPoller(polled, time)
    probe = DeadNetworkProbe(retries.liveness, time)
  }

  deinit { for task in tasks { task.cancel() } }

  /// Counts the reported changes; nil while the monitor does not watch.
  ///
  /// Any thread may read it.
  package nonisolated var generation: Int? { publicGeneration.withLock(\.self) }

  /// Calls a listener on every change, the most urgent listeners first.
  ///
  /// - Returns: The number to pass to ``leave(_:)``.
  package func listen(
    priority: @escaping @Sendable () -> LoadPriority,
    _ onChange: @escaping @PipelineActor @Sendable () -> Void
  ) -> Int {
    let isFirst = listeners.isEmpty
    let number = listeners.add(priority, onChange)
    watch()
    if isFirst { setProbe() }
    return number
  }

  package func leave(_ number: Int) {
    listeners.remove(number)
    if listeners.isEmpty { probe.stop() }
  }

  /// Starts to watch, so that transfers never reuse connections of an old network path.
  func watch() {
    guard tasks.isEmpty else { return }
    let (states, news) = (network.states(), settings.changes())
    let (now, current) = (network.currentState(), settings.currentSettings())
    let old = last
    last = (now, current)
    // A cancelled task reports nothing late, because it is cancelled on this actor.
    tasks = [
      PipelineActor.task { [weak self] in
        for await state in states where !Task.isCancelled { self?.note(state) }
      },
      PipelineActor.task { [weak self] in
        for await settings in news where !Task.isCancelled { self?.note(settings) }
      },
    ]
    publish()
    onState(now)
    // Report the changes that happened during a pause.
    let isSamePath = old?.network.isSamePath(as: now)
    if let old, isSamePath == false || old.settings != current { retries.reset() }
    let move = isSamePath == true ? nil : onNetwork(now)
    if isSamePath == false, now.isReachable { move?() }
    retries.liveness.listen { [weak self] in
      Task { @PipelineActor in
        self?.report()
        self?.setProbe()
      }
    }
    pollFacts()
  }

  /// Pauses until the next listener; does nothing while there are listeners.
  func rest() {
    guard listeners.isEmpty, policy == nil else { return }
    changes += 1
    for task in tasks { task.cancel() }
    tasks = []
    poller.stop()
    publish()
  }

  /// Tells all listeners that a fact has changed.
  func report() {
    changes += 1
    publish()
    listeners.call()
  }

  private func publish() {
    publicGeneration.withLock { $0 = tasks.isEmpty ? nil : changes }
    flaps.setReported(tasks.isEmpty ? nil : last?.network)
  }

  private func note(_ new: NetworkState) {
    guard let old = last?.network, old != new else { return }
    last?.network = new
    onState(new)
    var move: (@PipelineActor @Sendable () -> Void)?
    if !old.isSamePath(as: new) {
      retries.reset()
      move = onNetwork(new)
    }
    report()
    if new.isReachable { move?() }
  }

  private func note(_ new: UserSettings) {
    guard let old = last?.settings, old != new else { return }
    last?.settings = new
    // An image that was too large may now be within the limit.
    retries.reset()
    report()
  }

  // MARK: The policy

  /// Also watches the files of the policy, for callers that show images for long.
  package func watchPolicy(_ policy: PolicyInForce) {
    guard self.policy == nil else { return }
    let onChange: @Sendable () -> Void = { [weak self, weak policy] in
      Task { @PipelineActor in if let self, let policy { self.note(policy.current().table) } }
    }
    policy.listen(onChange)
    self.policy = (policy.current().table, FileWatcher(policy.paths, onChange: onChange))
  }

  private func note(_ new: PolicyTable) {
    guard policy?.table != new else { return }
    policy?.table = new
    pollFacts()
    report()
  }

  private func pollFacts() {
    guard !tasks.isEmpty else { return }
    poller.start { [weak self] in self?.report() }
  }

  /// Reports a change whenever a dead network may be probed, while there are listeners.
  private func setProbe() {
    guard !listeners.isEmpty else { return probe.stop() }
    probe.start { [weak self] in self?.report() }
  }

  /// Records the network that a decision used; any thread may call it.
  nonisolated func observed(_ seen: NetworkState) {
    flaps.observed(seen) { [weak self] in self?.endFlap(to: $0) }
  }

  /// Makes loads decide again if they used a network that was there only for a moment.
  private func endFlap(to seen: NetworkState) {
    guard let network = last?.network else { return }
    retries.reset()
    // A transfer may have connected over the other path, and later ones would share its connection.
    let move = seen.isReachable && !network.isSamePath(as: seen) ? onNetwork(network) : nil
    report()
    if network.isReachable { move?() }
  }
}

/// The listeners for changes of the facts.
struct FactListeners {
  private struct Listener {
    let priority: @Sendable () -> LoadPriority
    let onChange: @PipelineActor @Sendable () -> Void
  }

  private var listeners: [Int: Listener] = [:]
  private var issued = 0

  var isEmpty: Bool { listeners.isEmpty }
  var count: Int { listeners.count }

  /// - Returns: The number to pass to ``remove(_:)``.
  mutating func add(
    _ priority: @escaping @Sendable () -> LoadPriority,
    _ onChange: @escaping @PipelineActor @Sendable () -> Void
  ) -> Int {
    issued += 1
    listeners[issued] = Listener(priority: priority, onChange: onChange)
    return issued
  }

  mutating func remove(_ number: Int) { listeners[number] = nil }

  /// Calls all listeners, the most urgent first.
  @PipelineActor func call() {
    let ordered = listeners.sorted { $0.key < $1.key }.map {
      (priority: $0.value.priority(), listener: $0.value)
    }
    for priority in LoadPriority.allCases.reversed() {
      for entry in ordered where entry.priority == priority { entry.listener.onChange() }
    }
  }
}

/// Finds decisions that used a network which soon disappeared; any thread may use it.
///
/// A change of the network is reported only after it has lasted for some time. If the network changes back sooner,
/// no change is reported. The loads that decided in between must decide again.
final class NetworkFlapFilter: Sendable {
  private struct State {
    /// The reported network; nil while the monitor does not watch.
    var reported: NetworkState?
    /// The unreported network that a decision used, a reachable one before an offline one.
    var unreported: NetworkState?
  }

  /// The time after which an unreported network has either been reported or has changed back.
  private static let flapTime = Duration.milliseconds(1500)

  private let time: MonotonicTime
  private let state = Mutex(State())

  init(_ time: MonotonicTime) { self.time = time }

  /// Records the reported network; nil while the monitor does not watch.
  func setReported(_ network: NetworkState?) {
    state.withLock { if network == nil || $0.reported != network { $0 = State(reported: network) } }
  }

  /// Records the network that a decision used.
  ///
  /// `onFlap` is called if that network is never reported.
  func observed(_ seen: NetworkState, onFlap: @escaping @PipelineActor @Sendable (NetworkState) -> Void) {
    let isFirst = state.withLock { state in
      guard let reported = state.reported, reported != seen else { return false }
      defer { if state.unreported == nil || seen.isReachable { state.unreported = seen } }
      return state.unreported == nil
    }
    guard isFirst else { return }
    PipelineActor.task { [weak self, time] in
      guard (try? await time.sleep(Self.flapTime)) != nil, let self else { return }
      if let seen = state.withLock({ $0.unreported.take() }) { onFlap(seen) }
    }
  }
}

/// Looks for changes of the facts that no event reports, once a minute.
///
/// Kernel events about the battery would come sooner, but a charge takes minutes to change by a percent.
@PipelineActor final class FactPoller {
  private nonisolated let read: @Sendable () -> PolledFacts
  private nonisolated let time: MonotonicTime
  private var task: Task<Void, Never>?

  nonisolated init(_ read: @escaping @Sendable () -> PolledFacts, _ time: MonotonicTime) {
    (self.read, self.time) = (read, time)
  }

  deinit { task?.cancel() }

  /// Starts to poll, unless it polls or the facts cannot change a decision.
  func start(onChange: @escaping @PipelineActor @Sendable () -> Void) {
    guard task == nil else { return }
    let first = read()
    guard !first.isEmpty else { return }
    task = PipelineActor.task { [read, time] in
      var last = first
      while (try? await time.sleep(.seconds(60))) != nil, !Task.isCancelled {
        let now = read()
        if now != last { onChange() }
        last = now
      }
    }
  }

  func stop() {
    task?.cancel()
    task = nil
  }
}

/// Waits until a dead network may be probed.
@PipelineActor final class DeadNetworkProbe {
  private nonisolated let liveness: NetworkLiveness
  private nonisolated let time: MonotonicTime
  private(set) var task: Task<Void, Never>?

  nonisolated init(_ liveness: NetworkLiveness, _ time: MonotonicTime) {
    (self.liveness, self.time) = (liveness, time)
  }

  deinit { task?.cancel() }

  /// Calls `onDue` whenever a load may probe; does nothing while the network carries data.
  func start(onDue: @escaping @PipelineActor @Sendable () -> Void) {
    stop()
    guard let wait = liveness.nextProbe else { return }
    task = PipelineActor.task { [weak self, time] in
      guard (try? await time.sleep(wait)) != nil, !Task.isCancelled, let self else { return }
      // If the network is still offline, a load has probed it meanwhile and failed.
      if !liveness.isOffline { onDue() }
      // The last listener may have left.
      guard !Task.isCancelled else { return }
      start(onDue: onDue)
    }
  }

  func stop() {
    task?.cancel()
    task = nil
  }
}

extension NetworkState {
  /// Whether packets take the same path, regardless of its cost.
  func isSamePath(as other: NetworkState) -> Bool {
    (kind, route, isReachable) == (other.kind, other.route, other.isReachable) && via == other.via
  }
}
