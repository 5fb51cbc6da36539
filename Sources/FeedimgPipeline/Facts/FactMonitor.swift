import FeedimgModel
import FeedimgPolicy
import FeedimgSettings
import FeedimgSystem
import Synchronization

/// Reports when the facts that decisions depend on change: the network, the settings, the policy, or whether anything gets
/// through.
///
/// Watches nothing before the first listener, nor after ``rest()``.
@PipelineActor package final class FactMonitor {
  private struct Listener {
    let priority: @Sendable () -> LoadPriority
    let onChange: @PipelineActor @Sendable () -> Void
  }

  /// What other threads may read.
  private struct Snapshot {
    /// Nil while nothing is watched.
    var generation: Int?
    /// The network as it was reported last.
    var network: NetworkState?
  }

  private nonisolated let network: any NetworkMonitoring
  private nonisolated let settings: any SettingsReading
  private nonisolated let time: MonotonicTime
  private nonisolated let retries: RetryController
  private nonisolated let flaps: NetworkFlapFilter
  private nonisolated let battery: @Sendable () -> Int?
  private nonisolated let onState: @Sendable (NetworkState) -> Void
  private nonisolated let onNetwork:
    @PipelineActor @Sendable (NetworkState) -> @PipelineActor @Sendable () -> Void
  /// Guards what other threads read.
  private nonisolated let snapshot = Mutex(Snapshot())

  private var listeners: [Int: Listener] = [:]
  private var issued = 0
  private var tasks: [Task<Void, Never>] = []
  private var policyTasks: [Task<Void, Never>] = []
  private var policy: PolicyTable?
  private var probe: Task<Void, Never>?
  private var batteryTask: Task<Void, Never>?
  private var lastSettings: UserSettings?
  private var lastNetwork: NetworkState?
  /// How many changes were reported; a rest counts as one.
  private var changes = 0
  private var isWatching = false
  private var isStopped = false
  /// Distinguishes this watch from earlier ones, whose late news do not count.
  private var watches = 0

  /// - Parameters:
  ///   - network: Reports the path of packets.
  ///   - settings: What the user wants.
  ///   - time: For waits.
  ///   - retries: Forgets failures when the network or the settings change.
  ///   - battery: The charge in percent; nil without a battery, and where the policy does not ask.
  ///   - onState: Called first with each state of the network, also of its price alone.
  ///   - onNetwork: Called before any listener when packets take another path, and at first. Its result is called after
  ///     all listeners, if that path leads anywhere.
  nonisolated init(
    network: any NetworkMonitoring,
    settings: any SettingsReading,
    time: MonotonicTime,
    retries: RetryController,
    battery: @escaping @Sendable () -> Int? = { nil },
    onState: @escaping @Sendable (NetworkState) -> Void,
    onNetwork: @escaping @PipelineActor @Sendable (NetworkState) -> @PipelineActor @Sendable () -> Void
  ) {
    (self.network, self.settings, self.time, self.retries) = (network, settings, time, retries)
    (self.onState, self.onNetwork) = (onState, onNetwork)
    self.battery = battery
    flaps = NetworkFlapFilter(time)
  }

  /// Counts the changes that were reported; nil while nothing is watched.
  ///
  /// For any thread.
  package nonisolated var generation: Int? { snapshot.withLock { $0.generation } }

  /// How many listen.
  var listenerCount: Int { listeners.count }

  /// Whether a dead network is to be probed some time.
  var awaitsProbe: Bool { probe != nil }

  /// Calls a listener on every change, the most urgent listeners first.
  ///
  /// - Returns: The number to leave with.
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

  /// Watches from now on, for transfers over connections that were made before.
  func watch() {
    guard !isWatching, !isStopped else { return }
    isWatching = true
    start()
  }

  /// Watches nothing until something listens again; does nothing while anything listens.
  func rest() {
    guard listeners.isEmpty, policy == nil else { return }
    changes += 1
    watches += 1
    if !tasks.isEmpty { flaps.reported() }
    for task in tasks { task.cancel() }
    batteryTask?.cancel()
    batteryTask = nil
    (tasks, isWatching) = ([], isStopped)
    publish()
  }

  /// Watches nothing any more.
  func stop() {
    isStopped = true
    retries.liveness.listen(nil)
    flaps.reported()
    for task in tasks + policyTasks { task.cancel() }
    probe?.cancel()
    batteryTask?.cancel()
    (tasks, policyTasks, probe, batteryTask) = ([], [], nil, nil)
    publish()
  }

  /// Tells all listeners that something has changed.
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
    snapshot.withLock { ($0.generation, $0.network) = (tasks.isEmpty ? nil : changes, lastNetwork) }
  }

  private func start() {
    let (states, news) = (network.states(), settings.changes())
    let (now, current) = (network.currentState(), settings.currentSettings())
    let (oldNetwork, oldSettings, oldTasks) = (lastNetwork, lastSettings, tasks)
    (lastNetwork, lastSettings) = (now, current)
    watches += 1
    let watch = watches
    tasks = [
      Task { @PipelineActor [weak self] in for await state in states { self?.note(state, of: watch) } },
      Task { @PipelineActor [weak self] in for await settings in news { self?.note(settings, of: watch) } },
    ]
    publish()
    for task in oldTasks { task.cancel() }
    onState(now)
    // What changed during a rest.
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
    followBattery()
  }

  private func note(_ new: NetworkState, of watch: Int) {
    guard watches == watch, let old = lastNetwork, old != new else { return }
    lastNetwork = new
    flaps.reported()
    onState(new)
    var move: (@PipelineActor @Sendable () -> Void)?
    if !old.isSamePath(as: new) {
      retries.reset()
      move = onNetwork(new)
    }
    report()
    if new.isReachable { move?() }
  }

  private func note(_ new: UserSettings, of watch: Int) {
    guard watches == watch, let old = lastSettings, old != new else { return }
    lastSettings = new
    // An image that was too large may no longer be.
    retries.reset()
    report()
  }

  // MARK: The policy

  /// Watches the files of the policy as well; for what is shown for long.
  package func watchPolicy(_ policy: PolicyInForce) {
    guard self.policy == nil, !isStopped else { return }
    policy.listen { [weak self, weak policy] in
      Task { @PipelineActor in if let self, let policy { self.note(policy.current().table) } }
    }
    self.policy = policy.current().table
    policyTasks = policy.files.map { path in
      let changes = FileWatcher.changes(of: path)
      return Task { @PipelineActor [weak self] in
        for await _ in changes { self?.note(policy.current().table) }
      }
    }
  }

  private func note(_ new: PolicyTable) {
    guard policy != new else { return }
    policy = new
    followBattery()
    report()
  }

  /// Reports when the charge has changed, once a minute at most.
  ///
  /// Reads it only where there is a battery and the policy asks for it. Events of the kernel would come sooner, but a
  /// charge takes minutes to change by a percent.
  private func followBattery() {
    guard batteryTask == nil, !tasks.isEmpty, let charge = battery() else { return }
    batteryTask = Task { @PipelineActor [weak self, sleep = time.sleep] in
      var charge: Int? = charge
      while (try? await sleep(.seconds(60))) != nil, !Task.isCancelled {
        guard let self else { return }
        let now = battery()
        if now != charge { report() }
        charge = now
      }
    }
  }

  // MARK: A dead network

  /// Has loads decided again whenever a dead network may be probed, as long as anything listens.
  private func setProbe() {
    probe?.cancel()
    probe = nil
    guard let wait = retries.liveness.nextProbe, !isStopped, !listeners.isEmpty else { return }
    let sleep = time.sleep
    probe = Task { @PipelineActor [weak self] in
      guard (try? await sleep(wait)) != nil, !Task.isCancelled, let self else { return }
      // Otherwise a load has probed meanwhile, in vain.
      if !self.retries.liveness.isOffline { self.report() }
      self.setProbe()
    }
  }

  // MARK: A network that is there for a moment

  /// A decision follows this network, which may be gone before it is reported; for any thread.
  nonisolated func saw(_ seen: NetworkState) {
    let isNews = snapshot.withLock { $0.generation != nil && $0.network.map { $0 != seen } ?? false }
    guard isNews else { return }
    flaps.note(
      seen,
      isOver: { [weak self] in self.map { $0.network.currentState() == $0.reported } ?? true },
      end: { [weak self] in self?.flapped(to: $0) }
    )
  }

  private nonisolated var reported: NetworkState? { snapshot.withLock { $0.network } }

  /// The network was another one for a moment, and is again as it was reported.
  private func flapped(to seen: NetworkState) {
    guard let lastNetwork else { return }
    retries.reset()
    // The connections are still good unless a transfer may have used another path.
    let move = seen.isReachable && !lastNetwork.isSamePath(as: seen) ? onNetwork(lastNetwork) : nil
    report()
    if lastNetwork.isReachable { move?() }
  }
}

extension NetworkState {
  /// Whether packets take the same path, whatever it costs by now.
  func isSamePath(as other: NetworkState) -> Bool {
    (kind, route, isReachable) == (other.kind, other.route, other.isReachable) && via == other.via
  }
}
