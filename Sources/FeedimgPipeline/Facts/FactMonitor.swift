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
  /// The generation and the settings that were reported, which other threads read; nil while not watching.
  private nonisolated let published = Mutex<(generation: Int, settings: UserSettings)?>(nil)
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
  package nonisolated var generation: Int? { published.withLock { $0?.generation } }

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
        if !Task.isCancelled { self?.stop() }
      },
      PipelineActor.task { [weak self] in
        for await settings in news where !Task.isCancelled { self?.note(settings) }
        if !Task.isCancelled { self?.stop() }
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
    if listeners.isEmpty, policy == nil { stop() }
  }

  /// Stops watching until the next listener.
  ///
  /// It also happens when the system allows no thread to watch.
  private func stop() {
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
    published.withLock { [changes] in $0 = tasks.isEmpty ? nil : last.map { (changes, $0.settings) } }
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

  /// Records the settings that a decision used; any thread may call it.
  ///
  /// They may change back before the watcher of the file looks, which then reports no change.
  nonisolated func observed(_ seen: UserSettings) {
    guard published.withLock({ $0 != nil && $0?.settings != seen }) else { return }
    Task { @PipelineActor [weak self] in self?.note(seen) }
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
