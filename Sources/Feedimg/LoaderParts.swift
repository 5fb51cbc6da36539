package import FeedimgCache
import FeedimgModel
@_exported public import FeedimgPipeline
import FeedimgPolicy
import FeedimgReachability
package import FeedimgSettings
import FeedimgSystem
import FeedimgTransfer
import FeedimgUsage

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

extension ImageLoader {
  /// Makes a loader; nothing is opened before it is needed, but for the policy and the settings.
  ///
  /// - Parameter configuration: The default is what the user's desktop says.
  /// - Throws: ``ConfigurationError`` for a policy or an override that cannot be used.
  public convenience init(_ configuration: Configuration = Configuration()) throws(ConfigurationError) {
    try self.init(configuration, parts: try LoaderParts(configuration))
  }

  /// Makes a loader with parts that others may share.
  ///
  /// - Parameters:
  ///   - configuration: The configuration of the parts.
  ///   - parts: The settings, the network monitor, the disk cache and the policy to use.
  /// - Throws: ``ConfigurationError`` for an invalid override.
  package convenience init(_ configuration: Configuration, parts: LoaderParts) throws(ConfigurationError) {
    let (folders, settings, downloader) = (Folders(configuration), parts.settings, parts.downloader)
    let budget = MemoryBudget(
      isDecoding: configuration.decoder != nil,
      keepsNothing: !configuration.keepsInMemory
    )
    let time = MonotonicTime.system()
    self.init(
      network: parts.network,
      settings: settings,
      store: parts.store,
      memory: MemoryCache { budget.limits(settings.currentSettings()) },
      downloader: downloader,
      policy: parts.policy,
      overrides: try CheckedOverride.check(configuration.overrides, among: parts.shelf.facts),
      hostFacts: HostFacts(configuration.hostFacts),
      budget: budget,
      decoder: configuration.decoder,
      environment: configuration.environment,
      identity: try RequestIdentity(configuration),
      time: time,
      // Who has no place for it, counts nothing.
      usage: (try? folders.usage).map { UsageLedger(folder: $0, clock: SystemClock.seconds) },
      observers: configuration.observers,
      service: configuration.service.map {
        ServiceLink(socket: $0, cacheFolder: parts.cacheFolder, downloader: downloader, time: time)
      },
      sources: FactSources(bandwidth: (try? folders.state).map { BandwidthMemory(folder: $0) })
    )
  }
}

extension Settings {
  /// The settings that a loader with these parts follows.
  package init(sharing parts: LoaderParts) { self.init(parts.settings) }
}

extension NetworkStatus {
  /// The network as a loader with these parts sees it.
  package init(sharing parts: LoaderParts) { self.init(parts.network, parts.settings) }
}
