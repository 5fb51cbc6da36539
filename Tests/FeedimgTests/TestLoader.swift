import FeedimgCache
import FeedimgPolicies
import FeedimgPolicy
import FeedimgSettings
import FeedimgTransfer
import FoundationEssentials
import LoopbackServer
import Synchronization

@testable import Feedimg

/// A loader with real layers on a folder of its own, over a network that the test sets.
final class TestLoader: Sendable {
  /// The network, as the test says it is.
  final class Network: NetworkReading {
    private let state: Mutex<NetworkState>

    init(_ kind: NetworkKind) { state = Mutex(Self.state(kind)) }

    func currentState() -> NetworkState { state.withLock { $0 } }

    func become(_ kind: NetworkKind) { state.withLock { $0 = Self.state(kind) } }

    private static func state(_ kind: NetworkKind) -> NetworkState {
      NetworkState(kind: kind, metered: .no, reason: "the test says so", meteredReason: "the test says so")
    }
  }

  /// Nil where another loader on the same folder removes it.
  private let owned: String?
  let folder: String
  let network: Network
  let settings: SettingsStore
  let loader: ImageLoader

  init(
    _ kind: NetworkKind = .wifi,
    memoryLimit: ByteCount = .mebibytes(1),
    downloader: (any Downloading)? = nil,
    userAgent: String = "feedimg-tests",
    folder shared: String? = nil,
    clock: @escaping @Sendable () -> Double = SystemClock.seconds
  ) throws {
    let own = FileManager.default.temporaryDirectory.path + "feedimg-loader-\(UUID().uuidString)"
    owned = shared == nil ? own : nil
    folder = shared ?? own
    network = Network(kind)
    settings = SettingsStore(folder: folder + "/config")
    try settings.set(.cacheMemoryLimit, to: memoryLimit.description)
    loader = ImageLoader(
      network: network,
      settings: settings,
      store: DiskCache(
        folder: folder + "/cache",
        limits: CacheLimits(UserSettings()),
        clock: clock
      ),
      memory: MemoryCache(limit: memoryLimit),
      downloader: downloader ?? CurlDownloader(userAgent: userAgent),
      policy: try PolicyInForce(.standard, on: PolicyShelf(ImageLoader.Configuration(environment: [:]))),
      overrides: [],
      identity: RequestIdentity(userAgent: userAgent),
      clock: clock
    )
  }

  deinit { if let owned { try? FileManager.default.removeItem(atPath: owned) } }

  /// An item with these targets of a server.
  static func item(
    _ server: LoopbackServer,
    original: String? = nil,
    thumbnail: String? = nil
  ) throws -> FeedItem {
    FeedItem(
      original: try original.map { ImageVariant(role: .original, url: try ImageURL(server.url($0))) },
      thumbnail: try thumbnail.map { ImageVariant(role: .thumbnail, url: try ImageURL(server.url($0))) }
    )
  }
}
