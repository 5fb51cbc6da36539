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
  struct Listener {
    let priority: @Sendable () -> LoadPriority
    let onChange: @PipelineActor @Sendable () -> Void
  }

  /// The values that other threads may read.
  private struct Snapshot {
    /// Nil while the monitor does not watch.
    var generation: Int?
    var network: NetworkState?
    /// The unreported network that a decision used, a reachable one before an offline one.
    var unreported: NetworkState?
  }

  /// The time after which an unreported network has either been reported or has changed back.
  private static let flapTime = Duration.milliseconds(1500)

  private nonisolated let network: any NetworkMonitoring
  private nonisolated let settings: any SettingsReading
  private nonisolated let time: MonotonicTime
  private nonisolated let retries: RetryController
  private nonisolated let polled: @Sendable () -> PolledFacts
  private nonisolated let onState: @Sendable (NetworkState) -> Void
  private nonisolated let onNetwork:
    @PipelineActor @Sendable (NetworkState) -> @PipelineActor @Sendable () -> Void
  /// Guards the values that other threads read.
  private nonisolated let snapshot = Mutex(Snapshot())

  private(set) var listeners: [Int: Listener] = [:]
  private var issued = 0
  private var tasks: [Task<Void, Never>] = []
  private var policyWatcher: FileWatcher?
  private var policy: PolicyTable?
  /// Waits until a dead network may be probed.
  private(set) var probe: Task<Void, Never>?
  private var polling: Task<Void, Never>?
  private var lastSettings: UserSettings?
  private var lastNetwork: NetworkState?
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
    (self.network, self.settings, self.time, self.retries) = (network, settings, time, retries)
    (self.onState, self.onNetwork) = (onState, onNetwork)
    self.polled = polled
  }

  deinit { for task in tasks + [probe, polling].compactMap(\.self) { task.cancel() } }

  /// Counts the reported changes; nil while the monitor does not watch.
  ///
  /// Any thread may read it.
  package nonisolated var generation: Int? { snapshot.withLock { $0.generation } }

  /// Calls a listener on every change, the most urgent listeners first.
  ///
  /// - Returns: The number to pass to ``leave(_:)``.
  package func listen(
    priority: @escaping @Sendable () -> LoadPriority,
    _ onChange: @escaping @PipelineActor @Sendable () -> Void
  ) -> Int {
    issued += 1
    let isFirst = listeners.isEmpty
    listeners[issued] = Listener(priority: priority, onChange: onChange)
    watch()
    if isFirst { setProbe() }
    return issued
  }

  package func leave(_ number: Int) {
    listeners[number] = nil
    guard listeners.isEmpty else { return }
    probe?.cancel()
    probe = nil
  }

  /// Starts to watch, so that transfers never reuse connections of an old network path.
  func watch() {
    guard tasks.isEmpty else { return }
    let (states, news) = (network.states(), settings.changes())
    let (now, current) = (network.currentState(), settings.currentSettings())
    let (oldNetwork, oldSettings) = (lastNetwork, lastSettings)
    (lastNetwork, lastSettings) = (now, current)
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
    let isSamePath = oldNetwork?.isSamePath(as: now)
    if let isSamePath, !isSamePath || oldSettings != current { retries.reset() }
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
    polling?.cancel()
    (tasks, polling) = ([], nil)
    publish()
  }

  /// Tells all listeners that a fact has changed.
  func report() {
    changes += 1
    publish()
    let ordered = listeners.sorted { $0.key < $1.key }.map {
      (priority: $0.value.priority(), listener: $0.value)
    }
    for priority in LoadPriority.allCases.reversed() {
      for entry in ordered where entry.priority == priority { entry.listener.onChange() }
    }
  }

  private func publish() {
    snapshot.withLock { snapshot in
      snapshot.generation = tasks.isEmpty ? nil : changes
      if snapshot.generation == nil || snapshot.network != lastNetwork { snapshot.unreported = nil }
      snapshot.network = lastNetwork
    }
  }

  private func note(_ new: NetworkState) {
    guard let old = lastNetwork, old != new else { return }
    lastNetwork = new
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
    guard let old = lastSettings, old != new else { return }
    lastSettings = new
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
    self.policy = policy.current().table
    policyWatcher = FileWatcher(policy.paths, onChange: onChange)
  }

  private func note(_ new: PolicyTable) {
    guard policy != new else { return }
    policy = new
    pollFacts()
    report()
  }

  /// Reports changes of the polled facts, at most once a minute.
  ///
  /// Kernel events about the battery would come sooner, but a charge takes minutes to change by a percent.
  private func pollFacts() {
    guard polling == nil, !tasks.isEmpty else { return }
    let first = polled()
    guard !first.isEmpty else { return }
    polling = PipelineActor.task { [weak self, sleep = time.sleep] in
      var last = first
      while (try? await sleep(.seconds(60))) != nil, !Task.isCancelled {
        guard let self else { return }
        let now = polled()
        if now != last { report() }
        last = now
      }
    }
  }

  // MARK: A dead network

  /// Reports a change whenever a dead network may be probed, while there are listeners.
  private func setProbe() {
    probe?.cancel()
    probe = nil
    guard let wait = retries.liveness.nextProbe, !listeners.isEmpty else { return }
    let sleep = time.sleep
    probe = PipelineActor.task { [weak self] in
      guard (try? await sleep(wait)) != nil, !Task.isCancelled, let self else { return }
      // If the network is still offline, a load has probed it meanwhile and failed.
      if !self.retries.liveness.isOffline { self.report() }
      self.setProbe()
    }
  }

  // MARK: A network that is there for a moment

  /// Records the network that a decision used.
  ///
  /// A change is reported only after it has lasted for some time. If the network changes back sooner, the loads
  /// that decided in between decide again. Any thread may call it.
  nonisolated func observed(_ seen: NetworkState) {
    let isFirst = snapshot.withLock { snapshot in
      guard snapshot.generation != nil, snapshot.network != seen else { return false }
      defer { if snapshot.unreported == nil || seen.isReachable { snapshot.unreported = seen } }
      return snapshot.unreported == nil
    }
    guard isFirst else { return }
    PipelineActor.task { [weak self, time] in
      guard (try? await time.sleep(Self.flapTime)) != nil, let self else { return }
      guard let seen = snapshot.withLock({ $0.unreported.take() }), let lastNetwork else { return }
      retries.reset()
      // A transfer may have connected over the other path, and later ones would share its connection.
      let move = seen.isReachable && !lastNetwork.isSamePath(as: seen) ? onNetwork(lastNetwork) : nil
      report()
      if lastNetwork.isReachable { move?() }
    }
  }
}

extension NetworkState {
  /// Whether packets take the same path, regardless of its cost.
  func isSamePath(as other: NetworkState) -> Bool {
    (kind, route, isReachable) == (other.kind, other.route, other.isReachable) && via == other.via
  }
}
