import Feedimg
import FeedimgAdmin
import FeedimgSystem
import Synchronization

/// Publishes the network, the settings, the policy, transfers and upgrades, from the first reader on.
final class EventPublishers: Sendable {
  private struct State {
    var isStarted = false
    var isEnded = false
    var network: NetworkSubscription?
    var settings: Task<Void, Never>?
    var policies: FileWatcher?
  }

  let hub = EventHub(EventLog(run: String(UInt64.random(in: .min ... .max), radix: 36)))
  let upgrades: UpgradePublisher
  private let network: NetworkStatus
  /// The facts that options of the service replace.
  private let overrides: [SituationOverride]
  private let settings: Settings
  private let loader: ImageLoader
  private let transfers: ProgressPublisher
  /// Guards the watchers.
  private let state = Mutex(State())

  init(
    _ loader: ImageLoader,
    network: NetworkStatus,
    overrides: [SituationOverride],
    settings: Settings,
    schedule: @escaping ProgressPublisher.Schedule
  ) {
    (self.loader, self.network, self.overrides, self.settings) = (loader, network, overrides, settings)
    upgrades = UpgradePublisher(loader, hub, schedule: schedule)
    transfers = ProgressPublisher(loader.resources.loads.transfers, hub, schedule: schedule)
  }

  /// `GET /v1/events`: a stream of server-sent events until the client disconnects or is too slow.
  func response(to request: ServiceRequest) -> ServiceResponse {
    // A request for the head adds no reader.
    guard request.method != "HEAD" else { return .events(nil) }
    let isFirst = state.withLock { state in
      defer { state.isStarted = true }
      return !state.isStarted
    }
    if isFirst { start() }
    return .events(hub.subscribe(after: request.fields["Last-Event-ID"]))
  }

  private func start() {
    transfers.start()
    upgrades.start()
    let network = network.watch { [weak self, overrides] in
      self?.hub.publish("network", $0.json(simulating: overrides))
      self?.checkUpgrades()
    }
    let changes = settings.changes()
    let settings = Task(executorPreference: TaskThread.executor) { [weak self] in
      for await json in changes {
        self?.hub.publish("settings", json)
        self?.checkUpgrades()
      }
    }
    // The loader reads a changed file by itself; this watcher only publishes the change.
    let files = loader.policyInForce.candidates.compactMap(\.path)
    let policies = FileWatcher(files) { [weak self] in self?.publishPolicy() }
    publishPolicy()
    let isEnded = state.withLock { state in
      (state.network, state.settings, state.policies) = (network, settings, policies)
      return state.isEnded
    }
    if isEnded { end() }
  }

  /// Publishes the policy in force, if it has changed.
  func publishPolicy() {
    hub.publish("policy", loader.policyJSON)
    checkUpgrades()
  }

  /// Checks for upgrades away from the threads that watch, as the check may wait for the disk.
  private func checkUpgrades() {
    Task(executorPreference: TaskThread.executor) { [upgrades] in upgrades.check() }
  }

  /// Ends all readers and stops publishing.
  func end() {
    let watched = state.withLock { state in
      defer { state = State(isStarted: true, isEnded: true) }
      return state
    }
    transfers.end()
    watched.network?.cancel()
    watched.settings?.cancel()
    hub.end()
  }
}
