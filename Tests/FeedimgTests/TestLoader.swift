import FeedimgHTTPCache
import FeedimgPolicies
import FeedimgPolicy
import FeedimgSettings
import FeedimgSystem
import FeedimgTransfer
import FoundationEssentials
import LoopbackServer
import Synchronization

@testable import Feedimg
@testable import FeedimgPipeline

/// A loader with real layers on a folder of its own, with a network that the test sets.
final class TestLoader: Sendable {
  /// The network, as the test sets it.
  final class Network: NetworkMonitoring {
    private struct Shown {
      var state: NetworkState
      var audience: [AsyncStream<NetworkState>.Continuation] = []
      /// The network state after its metering was queried.
      var found: NetworkState?
    }

    private let shown: Mutex<Shown>

    init(_ kind: NetworkKind) { shown = Mutex(Shown(state: Self.state(kind))) }

    func currentState() -> NetworkState { shown.withLock { $0.state } }

    func states() -> AsyncStream<NetworkState> {
      let (stream, continuation) = AsyncStream.makeStream(of: NetworkState.self)
      // Inside the lock, so that no listener hears an earlier state after a later one.
      shown.withLock { shown in
        shown.audience.append(continuation)
        continuation.yield(shown.state)
      }
      return stream
    }

    func become(_ kind: NetworkKind, metered: Metered = .no) {
      let state = Self.state(kind, metered)
      shown.withLock { shown in
        shown.state = state
        for continuation in shown.audience { continuation.yield(state) }
      }
    }

    /// Changes the network for a moment, without a report to listeners.
    func flap(_ kind: NetworkKind) { shown.withLock { $0.state = Self.state(kind) } }

    /// The next metering query finds this network metered.
    ///
    /// Only that caller learns of it.
    func turnOutMetered(_ kind: NetworkKind) { shown.withLock { $0.found = Self.state(kind, .yes) } }

    func refresh() { shown.withLock { $0.state = $0.found.take() ?? $0.state } }

    private static func state(_ kind: NetworkKind, _ metered: Metered = .no) -> NetworkState {
      NetworkState(
        kind: kind,
        metered: metered,
        reason: "the test says so",
        meteredReason: "the test says so"
      )
    }
  }

  /// Nil if another loader on the same folder removes it.
  private let owned: String?
  let folder: String
  let network: Network
  let settings: SettingsStore
  let loader: ImageLoader

  init(
    _ kind: NetworkKind = .wifi,
    memoryLimit: ByteCount = .mebibytes(1),
    downloader: (any Downloading)? = nil,
    decoder: (any ImageDecoding)? = nil,
    userAgent: String = "feedimg-tests",
    identity: RequestIdentity? = nil,
    folder shared: String? = nil,
    clock: @escaping @Sendable () -> Double = SystemClock.seconds,
    time: MonotonicTime = .system(),
    tries: Int = 1,
    policy: String? = nil,
    usage: (any UsageKeeping)? = nil,
    bandwidthMemory: BandwidthMemory? = nil,
    observers: [any LoadObserving] = [],
    followsPolicies: Bool = false,
    service makeService: (_ folder: String) -> ServiceClient? = { _ in nil },
    store makeStore: (DiskCache) -> any ImageStoring = { $0 }
  ) throws {
    let own = FileManager.default.temporaryDirectory.path + "/feedimg-loader-\(UUID().uuidString)"
    owned = shared == nil ? own : nil
    folder = shared ?? own
    network = Network(kind)
    settings = SettingsStore(folder: folder + "/config")
    try settings.set(.cacheMemoryLimit, to: memoryLimit.description)
    var policies = ImageLoader.Configuration(environment: [:])
    policies.configurationFolder = followsPolicies ? folder + "/config" : folder + "/no-policies"
    let store = DiskCache(folder: folder + "/cache", limits: CacheLimits(UserSettings()), clock: clock)
    let identity = identity ?? RequestIdentity(userAgent: userAgent)
    let storage = ImageStorage(
      makeStore(store),
      MemoryCache(
        removals: { store.removals },
        limits: { MemoryLimits(total: memoryLimit, isDecoding: decoder != nil) }
      ),
      budget: MemoryBudget(isDecoding: decoder != nil),
      identity: identity,
      // Otherwise one of many loaders would always watch the memory, and memory tests could not tell which.
      environment: ["MEMORY_PRESSURE_WATCH": "/dev/null"]
    )
    let resources = LoaderResources(
      sources: FactSources(
        network: network,
        settings: settings,
        policy: try PolicyInForce(policy.map { .named($0) } ?? .standard, on: PolicyCatalog(policies)),
        usage: usage,
        bandwidthMemory: bandwidthMemory,
        time: time,
        writes: storage.writes
      ),
      storage: storage,
      transport: Transport(
        downloader ?? CurlDownloader(userAgent: userAgent),
        identity: identity,
        service: makeService(folder),
        retries: RetrySchedule(maximumTries: tries),
        time: time
      ),
      decoder: decoder,
      observers: observers,
      clock: clock,
      time: time
    )
    loader = ImageLoader(resources)
  }

  deinit { if let owned { try? FileManager.default.removeItem(atPath: owned) } }

  /// Writes the policy of a loader that follows policies.
  func write(policy text: String) throws {
    let policies = URL(filePath: folder + "/config/policies")
    try FileManager.default.createDirectory(at: policies, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: policies.appending(path: "default.md"), options: .atomic)
  }

  /// Changes the network and returns when all listeners have heard of it.
  func become(_ kind: NetworkKind, metered: Metered = .no) async {
    await loader.resources.factMonitor.watch()
    let (generation, old) = (loader.resources.factMonitor.generation, network.currentState())
    network.become(kind, metered: metered)
    guard network.currentState() != old else { return }
    while loader.resources.factMonitor.generation == generation { await Task.yield() }
  }

  /// An item with these paths on a server.
  static func item(
    _ server: LoopbackServer,
    original: String? = nil,
    thumbnail: String? = nil
  ) throws -> FeedItem {
    try item(original: original.map(server.url), thumbnail: thumbnail.map(server.url))
  }

  /// An item with these URLs.
  static func item(original: String? = nil, thumbnail: String? = nil) throws -> FeedItem {
    FeedItem(
      original: try original.map { ImageVariant(role: .original, url: try ImageURL($0)) },
      thumbnail: try thumbnail.map { ImageVariant(role: .thumbnail, url: try ImageURL($0)) }
    )
  }
}
