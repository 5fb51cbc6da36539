package import FeedimgCache
import FeedimgModel
import FeedimgPolicy
import FeedimgReachability
package import FeedimgSettings
import FeedimgSystem
import FeedimgTransfer

/// The settings, the network monitor and the disk cache of a loader, which other parts of the process can share.
///
/// Nothing is opened before it is needed, except for the policy and the settings.
package struct LoaderParts: Sendable {
  package let settings: SettingsStore
  package let store: DiskCache
  /// The folder of the images.
  package let cacheFolder: String
  let network: NetlinkMonitor
  let downloader: CurlDownloader
  let shelf: PolicyShelf
  let policy: PolicyInForce

  /// - Throws: ``ConfigurationError`` for a folder or a policy that cannot be used.
  package init(_ configuration: ImageLoader.Configuration) throws(ConfigurationError) {
    let folders = Folders(configuration)
    let settings = SettingsStore(folder: try folders.configuration)
    let shelf = try PolicyShelf(configuration)
    let policy = try PolicyInForce(configuration.policy, on: shelf)
    let services = NetworkServices(of: configuration)
    let downloader = CurlDownloader(
      userAgent: configuration.userAgent,
      addresses: configuration.reachesPrivateHosts ? .everything : .internet
    )
    cacheFolder = try folders.cache
    store = DiskCache(
      folder: cacheFolder,
      limits: CacheLimits(settings.currentSettings()),
      clock: SystemClock.seconds
    )
    network = NetlinkMonitor(
      reader: NetlinkReader(
        // Skip D-Bus unless metering affects the decision or a transfer follows.
        services: policy.asksAboutCost ? services : .none,
        adviceLifetime: .seconds(1),
        peer: { [weak downloader] in downloader?.lastPeer },
        mark: { settings.currentSettings().mark(of: $0) }
      ),
      alsoWatching: { settings.watchMarks($0) }
    )
    (self.settings, self.shelf, self.policy, self.downloader) = (settings, shelf, policy, downloader)
  }

  /// Reads the price of the network from now on, whether or not the policy depends on it.
  package func askAboutCost() { policy.askAboutCost() }
}

extension Settings {
  /// The settings that a loader with these parts follows.
  package init(sharing parts: LoaderParts) { self.init(parts.settings) }
}

extension NetworkStatus {
  /// The network as a loader with these parts sees it.
  package init(sharing parts: LoaderParts) { self.init(parts.network, parts.settings) }
}
