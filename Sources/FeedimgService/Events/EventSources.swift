import Feedimg
import Synchronization

/// What events tell of: the network, the settings and the policy, watched once somebody reads.
final class EventSources: Sendable {
  private struct State {
    var network: NetworkWatching?
    var settings: Task<Void, Never>?
    var policies: FolderWatch?
    var isEnded = false
  }

  private let configuration: ImageLoader.Configuration
  private let loader: ImageLoader
  /// Guards what is watched.
  private let state = Mutex(State())

  init(_ configuration: ImageLoader.Configuration, loader: ImageLoader) {
    self.configuration = configuration
    self.loader = loader
  }

  /// Begins to tell; called once.
  func start(telling hub: EventHub) {
    let network = NetworkStatus(configuration).watch { hub.publish("network", $0.json) }
    let changes = (try? Settings(configuration))?.changes()
    let settings = Task {
      for await json in changes ?? AsyncStream(unfolding: { nil }) { hub.publish("settings", json) }
    }
    let files = loader.policyInForce.candidates.compactMap(\.path)
    let folders = Set(files.map { String($0.prefix(upTo: $0.lastIndex(of: "/") ?? $0.startIndex)) })
    // The loader heeds a changed file by itself; it is watched only to be told of.
    let policies = FolderWatch(folders.sorted()) { [weak self] in self?.tellPolicy(to: hub) }
    tellPolicy(to: hub)
    let isEnded = state.withLock { state in
      (state.network, state.settings, state.policies) = (network, settings, policies)
      return state.isEnded
    }
    if isEnded { end() }
  }

  /// Tells which policy decides, if that has changed.
  func tellPolicy(to hub: EventHub) { hub.publish("policy", loader.policyInForce.json) }

  /// Watches nothing any more.
  func end() {
    let watched = state.withLock { state in
      defer { state = State(isEnded: true) }
      return state
    }
    watched.network?.cancel()
    watched.settings?.cancel()
    watched.policies?.stop()
  }
}
