import Feedimg
import FeedimgSystem
import Synchronization

/// What events tell of, watched once somebody reads: the network, the settings, the policy, transfers and upgrades.
final class EventSources: Sendable {
  private struct State {
    var network: NetworkWatching?
    var settings: Task<Void, Never>?
    var policies: FileWatcher?
    var isEnded = false
  }

  private let configuration: ImageLoader.Configuration
  private let loader: ImageLoader
  private let upgrades: UpgradeWatch
  private let transfers: TransferTeller
  private let later: TransferTeller.Later
  /// Guards what is watched.
  private let state = Mutex(State())

  init(
    _ configuration: ImageLoader.Configuration,
    loader: ImageLoader,
    upgrades: UpgradeWatch,
    later: @escaping TransferTeller.Later
  ) {
    self.configuration = configuration
    self.loader = loader
    (self.upgrades, self.later) = (upgrades, later)
    transfers = TransferTeller(loader.transferRegister, later: later)
  }

  /// Begins to tell; called once.
  func start(telling hub: EventHub) {
    transfers.start(telling: hub)
    upgrades.start(telling: hub, later: later)
    let network = NetworkStatus(configuration).watch { [weak self] in
      hub.publish("network", $0.json)
      self?.reconsider(hub)
    }
    let changes = (try? Settings(configuration))?.changes()
    let settings = Task { [weak self] in
      for await json in changes ?? AsyncStream(unfolding: { nil }) {
        hub.publish("settings", json)
        self?.reconsider(hub)
      }
    }
    // The loader reads a changed file by itself; this watcher only publishes the change.
    let files = loader.policyInForce.candidates.compactMap(\.path)
    let policies = FileWatcher(files) { [weak self] in self?.tellPolicy(to: hub) }
    tellPolicy(to: hub)
    let isEnded = state.withLock { state in
      (state.network, state.settings, state.policies) = (network, settings, policies)
      return state.isEnded
    }
    if isEnded { end() }
  }

  /// Tells which policy decides, if that has changed.
  func tellPolicy(to hub: EventHub) {
    hub.publish("policy", loader.policyInForce.json)
    reconsider(hub)
  }

  /// Looks for upgrades away from the threads that watch, as it may wait for the disk.
  private func reconsider(_ hub: EventHub) {
    Task { [upgrades] in upgrades.reconsider(telling: hub) }
  }

  /// Watches nothing any more.
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
