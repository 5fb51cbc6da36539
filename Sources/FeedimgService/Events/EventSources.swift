import Feedimg
import FeedimgSystem
import Synchronization

/// Publishes the network, the settings, the policy, transfers and upgrades, from the first reader on.
final class EventSources: Sendable {
  private struct State {
    var network: NetworkSubscription?
    var settings: Task<Void, Never>?
    var policies: FileWatcher?
    var isEnded = false
  }

  private let network: NetworkStatus
  private let settings: Settings
  private let loader: ImageLoader
  private let upgrades: UpgradePublisher
  private let transfers: ProgressPublisher
  private let schedule: ProgressPublisher.Schedule
  /// Guards the watchers.
  private let state = Mutex(State())

  init(
    _ loader: ImageLoader,
    network: NetworkStatus,
    settings: Settings,
    upgrades: UpgradePublisher,
    schedule: @escaping ProgressPublisher.Schedule
  ) {
    (self.loader, self.network, self.settings) = (loader, network, settings)
    (self.upgrades, self.schedule) = (upgrades, schedule)
    transfers = ProgressPublisher(loader.transferRegister, schedule: schedule)
  }

  /// Starts publishing; called once.
  func start(on hub: EventHub) {
    transfers.start(on: hub)
    upgrades.start(on: hub, schedule: schedule)
    let network = network.watch { [weak self] in
      hub.publish("network", $0.json)
      self?.checkUpgrades(on: hub)
    }
    let changes = settings.changes()
    let settings = Task(executorPreference: TaskThread.executor) { [weak self] in
      for await json in changes {
        hub.publish("settings", json)
        self?.checkUpgrades(on: hub)
      }
    }
    // The loader reads a changed file by itself; this watcher only publishes the change.
    let files = loader.policyInForce.candidates.compactMap(\.path)
    let policies = FileWatcher(files) { [weak self] in self?.publishPolicy(on: hub) }
    publishPolicy(on: hub)
    let isEnded = state.withLock { state in
      (state.network, state.settings, state.policies) = (network, settings, policies)
      return state.isEnded
    }
    if isEnded { end() }
  }

  /// Publishes the policy in force, if it has changed.
  func publishPolicy(on hub: EventHub) {
    hub.publish("policy", loader.policyInForce.json)
    checkUpgrades(on: hub)
  }

  /// Checks for upgrades away from the threads that watch, as the check may wait for the disk.
  private func checkUpgrades(on hub: EventHub) {
    Task(executorPreference: TaskThread.executor) { [upgrades] in upgrades.check(on: hub) }
  }

  /// Stops publishing.
  func end() {
    let watched = state.withLock { state in
      defer { state = State(isEnded: true) }
      return state
    }
    transfers.end()
    watched.network?.cancel()
    watched.settings?.cancel()
  }
}
