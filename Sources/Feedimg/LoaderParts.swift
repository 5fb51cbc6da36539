package import FeedimgHTTPCache
import FeedimgModel
@_exported public import FeedimgPipeline
import FeedimgPolicy
import FeedimgReachability
package import FeedimgSettings
import FeedimgSystem
import FeedimgTransfer
package import FeedimgUsage

/// The settings, the network monitor, the disk cache, the ledger and the policies of a loader, which other parts
/// of the process can share.
///
/// Only the policy and the settings are read at once; everything else is opened on first use.
package struct LoaderParts: Sendable {
  package let settings: SettingsStore
  package let store: DiskCache
  /// The folder that holds the cached images.
  package let cacheFolder: String
  /// The usage ledger; nil if no folder for it is known, so that traffic is not counted.
  package let usage: UsageLedger?
  let network: NetlinkMonitor
  let downloader: CurlDownloader
  package let catalog: PolicyCatalog
  let policy: PolicyInForce

  /// Makes the parts.
  ///
  /// - Throws: ``ConfigurationError`` for an unusable folder or policy.
  package init(_ configuration: ImageLoader.Configuration) throws(ConfigurationError) {
    let folders = Folders(configuration)
    let settings = SettingsStore(folder: try folders.configuration)
    let catalog = try PolicyCatalog(configuration)
    let policy = try PolicyInForce(configuration.policy, on: catalog)
    let services = NetworkServices(of: configuration)
    let downloader = CurlDownloader(
      userAgent: configuration.userAgent,
      certificateFile: configuration.requests.certificateFile,
      clientCertificate: configuration.requests.clientCertificate.map { certificate in
        ClientKey(
          origins: certificate.origins.compactMap { try? ImageURL($0) },
          file: certificate.file,
          keyFile: certificate.keyFile ?? certificate.file
        )
      },
      proxy: configuration.requests.proxy,
      addresses: configuration.reachesPrivateHosts ? .everything : .internet,
      on: PipelineActor.executor
    )
    usage = (try? folders.usage).map { UsageLedger(folder: $0, clock: SystemClock.seconds) }
    cacheFolder = try folders.cache
    store = DiskCache(
      folder: cacheFolder,
      limits: CacheLimits(settings.currentSettings()),
      clock: SystemClock.seconds
    )
    network = NetlinkMonitor(
      reader: NetlinkReader(
        // Skip D-Bus unless metering affects the decision or a transfer follows.
        services: policy.needsCost ? services : .none,
        adviceLifetime: .seconds(1),
        peer: { [weak downloader] in downloader?.lastPeer },
        mark: { settings.currentSettings().mark(of: $0) }
      ),
      alsoWatching: { settings.watchMarks($0) }
    )
    (self.settings, self.catalog, self.policy, self.downloader) = (settings, catalog, policy, downloader)
  }

  /// Reads the cost of the network from now on, even if the policy does not depend on it.
  package func requireCost() { policy.requireCost() }
}

extension ImageLoader {
  /// Makes a loader.
  ///
  /// Only the policy and the settings are read at once; everything else is opened on first use.
  ///
  /// - Parameter configuration: By default, the user's folders, the live network and the policy `default`.
  /// - Throws: ``ConfigurationError`` for an unusable policy or override.
  public convenience init(_ configuration: Configuration = Configuration()) throws(ConfigurationError) {
    try self.init(configuration, parts: try LoaderParts(configuration))
  }

  /// Makes a loader with shared parts.
  ///
  /// - Throws: ``ConfigurationError`` for an invalid override.
  package convenience init(_ configuration: Configuration, parts: LoaderParts) throws(ConfigurationError) {
    let (folders, settings, downloader) = (Folders(configuration), parts.settings, parts.downloader)
    let budget = MemoryBudget(
      isDecoding: configuration.decoder != nil,
      keepsNothing: !configuration.keepsInMemory,
      limit: configuration.memoryLimit
    )
    let (time, store) = (MonotonicTime.system(), parts.store)
    // A memory that keeps nothing need not hear of removals.
    let keepsInMemory = configuration.keepsInMemory
    let overrides = try CheckedOverride.check(configuration.overrides, among: parts.catalog.facts)
    let identity = try RequestIdentity(configuration)
    let storage = ImageStorage(
      store,
      MemoryCache(
        removals: { keepsInMemory ? store.removals : 0 },
        limits: { budget.limits(settings.currentSettings()) }
      ),
      budget: budget,
      identity: identity,
      environment: configuration.environment
    )
    let sources = FactSources(
      network: parts.network,
      settings: settings,
      policy: parts.policy,
      hostFacts: HostFacts(configuration.hostFacts),
      usage: parts.usage,
      bandwidthMemory: (try? folders.state).map { BandwidthMemory(folder: $0) },
      time: time,
      writes: storage.writes
    )
    let transport = Transport(
      downloader,
      identity: identity,
      // The service would connect in its own way.
      service: configuration.requests.usesUsualConnections
        ? configuration.service.map {
          ServiceClient(socket: $0, cacheFolder: parts.cacheFolder, downloader: downloader, time: time)
        } : nil,
      time: time
    )
    let resources = LoaderResources(
      sources: sources,
      storage: storage,
      transport: transport,
      decoder: configuration.decoder,
      observers: configuration.observers,
      time: time
    )
    self.init(resources, overrides: overrides)
  }
}

extension Settings {
  /// Makes the settings that a loader with these parts follows.
  package init(sharing parts: LoaderParts) { self.init(parts.settings) }
}

extension NetworkStatus {
  /// Makes the network status that a loader with these parts sees.
  package init(sharing parts: LoaderParts) { self.init(parts.network, parts.settings) }
}
