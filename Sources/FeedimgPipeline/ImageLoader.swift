package import FeedimgHTTPCache
@_exported public import FeedimgModel
import FeedimgPolicy
import FeedimgSettings
package import FeedimgSystem
package import FeedimgTransfer
import FeedimgUsage
import Synchronization

/// Decides which image of an item to show, and loads it.
///
/// One loader serves a whole program; use it from any thread.
public final class ImageLoader: Sendable {
  let network: any NetworkMonitoring
  let settings: any SettingsReading
  package let store: any ImageStoring
  package let memory: MemoryCache
  let budget: MemoryBudget
  /// Decodes pixels; nil if the program decodes images itself.
  package let pixels: DecodingQueue?
  package let pressure: MemoryPressure
  let downloader: any Downloading
  package let policy: PolicyInForce
  let overrides: [CheckedOverride]
  let hostFacts: HostFacts
  package let identity: RequestIdentity
  /// Seconds since 1970; may jump.
  let clock: @Sendable () -> Double
  let coalescer: Coalescer<FetchedImage>
  let revalidator: Revalidator
  let scheduler: DownloadScheduler
  package let retries: RetryController
  /// The ledger; nil if usage is not counted.
  let usage: (any UsageKeeping)?
  package let meter: UsageMeter?
  let observers: [any LoadObserving]
  /// The service; nil if this process loads images itself.
  let service: ServiceClient?
  package let facts: FactMonitor
  /// The clock for waits, which never jumps.
  package let time: MonotonicTime
  /// The thread on which loads read files; starts with the first load.
  package let disk: ThreadExecutor
  /// The thread that writes the cache and the usage ledger, so that no reader waits behind a write.
  package let writes: ThreadExecutor
  let stores: StoresInFlight
  package let transfers: TransferRegistry
  let uses: MemoryUseRecorder
  let freshness = FreshnessCache()
  /// The stored bandwidth; nil if nothing is kept between runs.
  let bandwidthMemory: BandwidthMemory?
  /// The policies that callers name for single loads.
  let namedPolicies: NamedPolicies
  /// The latest facts, reused while they stay the same.
  let snapshotCache = SnapshotCache()
  /// The loader whose parts this one shares; nil for a loader with its own parts.
  let base: ImageLoader?

  package init(
    network: any NetworkMonitoring,
    settings: any SettingsReading,
    store: any ImageStoring,
    memory: MemoryCache,
    downloader: any Downloading,
    policy: PolicyInForce,
    overrides: [CheckedOverride],
    hostFacts: HostFacts = HostFacts([]),
    budget: MemoryBudget = MemoryBudget(),
    decoder: (any ImageDecoding)? = nil,
    environment: [String: String] = [:],
    identity: RequestIdentity = RequestIdentity(userAgent: "feedimg"),
    clock: @escaping @Sendable () -> Double = SystemClock.seconds,
    time: MonotonicTime = .system(),
    retries: RetrySchedule = RetrySchedule(),
    usage: (any UsageKeeping)? = nil,
    observers: [any LoadObserving] = [],
    service: ServiceClient? = nil,
    bandwidthMemory: BandwidthMemory? = nil
  ) {
    self.service = service
    self.bandwidthMemory = bandwidthMemory
    self.network = network
    self.settings = settings
    self.store = store
    self.memory = memory
    self.budget = budget
    pixels = decoder.map { DecodingQueue($0, memory) { identity.key(of: $0) } }
    pressure = MemoryPressure(memory, environment: environment)
    let (disk, writes) = (ThreadExecutor("feedimg-disk"), ThreadExecutor("feedimg-writes"))
    let meter = usage.map { UsageMeter($0, network: network, time: time, on: writes) }
    self.downloader = downloader
    (self.usage, self.meter, self.observers) = (usage, meter, observers)
    self.policy = policy
    self.overrides = overrides
    self.hostFacts = hostFacts
    self.identity = identity
    self.clock = clock
    let revalidator = Revalidator(clock: clock)
    let scheduler = DownloadScheduler(time, interval: identity.requests.interval)
    let retries = RetryController(time, schedule: retries)
    facts = FactMonitor(
      network: network,
      settings: settings,
      time: time,
      retries: retries,
      polled: { PolledFacts(for: policy.current()) },
      // Needed even if all decisions are made without reading the network.
      onState: { meter?.note($0) },
      onNetwork: { state in
        downloader.forgetConnections()
        revalidator.forgetRequests()
        // List the running downloads before others start, because the new network may have more places.
        let leave = scheduler.leavingPath()
        scheduler.enter(network: state.kind)
        // Move them to the new network after the loads with a changed decision have ended.
        return { Task { @PipelineActor in leave() } }
      }
    )
    (self.revalidator, self.scheduler, self.retries, self.time) = (revalidator, scheduler, retries, time)
    (self.disk, self.writes, transfers, base) = (disk, writes, TransferRegistry(), nil)
    uses = MemoryUseRecorder(of: store, for: identity.sent, on: writes)
    (coalescer, stores, namedPolicies) = (Coalescer(), StoresInFlight(), NamedPolicies())
    memory.whenFilled { [weak pressure] in pressure?.start() }
  }

  /// Makes a loader with another policy, other facts or other header fields, which shares images, transfers
  /// and limits with `base`.
  init(
    _ base: ImageLoader,
    policy: PolicyInForce,
    overrides: [CheckedOverride],
    identity: RequestIdentity? = nil
  ) {
    (self.base, self.policy, self.overrides) = (base, policy, overrides)
    (network, settings, hostFacts) = (base.network, base.settings, base.hostFacts)
    self.identity = identity ?? base.identity
    (store, memory, budget, pressure) = (base.store, base.memory, base.budget, base.pressure)
    (downloader, coalescer, scheduler, retries) = (
      base.downloader, base.coalescer, base.scheduler, base.retries
    )
    (revalidator, transfers, facts) = (base.revalidator, base.transfers, base.facts)
    (disk, writes, stores) = (base.disk, base.writes, base.stores)
    (usage, meter, observers, pixels) = (base.usage, base.meter, base.observers, base.pixels)
    (clock, time, service, uses) = (base.clock, base.time, base.service, base.uses)
    (bandwidthMemory, namedPolicies) = (base.bandwidthMemory, base.namedPolicies)
  }

  deinit {
    guard base == nil else { return }
    saveBandwidth()
    disk.stop()
    writes.stop()
  }

  /// Makes a loader that also sends header fields to an origin, and shares everything else with this one.
  ///
  /// - Parameters:
  ///   - fields: The fields; see ``RequestOptions/headers``.
  ///   - origin: See `ImageURL.origin`.
  /// - Returns: The loader, which never shares an image with one that sends other values.
  package func sending(_ fields: HTTPFields, to origin: String) -> ImageLoader {
    ImageLoader(self, policy: policy, overrides: overrides, identity: identity.adding(fields, for: origin))
  }

  /// Reduces the work of a loader that is idle.
  ///
  /// The loader stops watching the network and the settings until the next transfer, unless a load waits for
  /// them. Memory drops second copies of images.
  package func rest() {
    Task { @PipelineActor [facts] in facts.rest() }
    memory.removeCopies()
  }

  /// Warnings for the user about the settings and the policy, such as a refused file.
  ///
  /// Each warning is reported once, as one line.
  public var warnings: [String] {
    settings.takeWarnings() + policy.takeWarnings() + hostFacts.takeWarnings()
      + (usage?.takeWarnings() ?? [])
  }

  /// A summary of the service's work for this loader, or why it did none; nil before it was needed.
  public var serviceAccount: String? { service?.account }

  /// The policy that decides now, its source, and why no other one applies.
  public var policyInForce: PolicyStatus { policy.status() }

  /// Returns the image that a load would choose now, and the reasons.
  ///
  /// The call reads the network, the settings and the index of the cache. It fetches nothing, changes nothing
  /// and never waits for another computer.
  ///
  /// - Parameters:
  ///   - item: The item to decide about.
  ///   - facts: The values of declared facts, by name. A missing fact has its first value. An undeclared one
  ///     is ignored, and is listed in ``warnings``.
  /// - Returns: The decision with its reasons.
  public func resolve(_ item: FeedItem, facts: [String: String] = [:]) -> Resolution {
    resolve([item]) { _ in facts }[0]
  }

  /// Returns the decisions for several items, which share one reading of the network and the cache.
  ///
  /// - Parameters:
  ///   - items: The items to decide about.
  ///   - facts: Returns the values of declared facts for an item; see ``resolve(_:facts:)->Resolution``.
  /// - Returns: A decision for each item, in order.
  public func resolve(
    _ items: [FeedItem],
    facts: (FeedItem) -> [String: String] = { _ in [:] }
  ) -> [Resolution] {
    resolve(items, trustingNetwork: false, facts)
  }

  /// Decides for items; a trusted network counts as connected if it says so, even if all transfers fail.
  ///
  /// Images count as cached where the cache policy reads them.
  func resolve(
    _ items: [FeedItem],
    trustingNetwork: Bool,
    by cache: CachePolicy = .default,
    _ facts: (FeedItem) -> [String: String]
  ) -> [Resolution] {
    let context = decisionContext(trustingNetwork: trustingNetwork)
    let isCached = presence(of: items, context, by: cache)
    return items.map { item in
      context.resolution(of: item, hostFacts.declared(in: facts(item)), isCached: isCached)
    }
  }

  /// Applies the user's limits, also after they changed.
  func follow(_ settings: UserSettings) {
    store.follow(settings)
    memory.setLimits(budget.limits(settings))
  }

  /// Loads the image of an item that the policy chooses: from memory, from disk, or from the network.
  ///
  /// Callers that request the same image share one transfer. Cancelling the task ends only the caller's part;
  /// the transfer stops when its last caller has left.
  ///
  /// If the original fails after the last retry, the load returns the thumbnail, provided the policy permits
  /// it. ``LoadedImage/failure`` then has the reason.
  ///
  /// A cached image returns at once. If it may be stale and the policy permits the request, its server
  /// revalidates it meanwhile; see ``revalidation(of:)``.
  ///
  /// If the item has several sizes, the smallest one loads that `pixels` does not enlarge. The policy still
  /// decides between the sizes of the original and those of the thumbnail.
  ///
  /// - Parameters:
  ///   - item: The item to load.
  ///   - pixels: The size of ``LoadedImage/bitmap`` to decode; needs a decoder in the configuration. If the
  ///     original cannot be decoded, the thumbnail replaces it.
  ///   - facts: See ``resolve(_:facts:)->Resolution``.
  ///   - priority: The priority among all loads.
  ///   - cache: How the load uses memory and disk.
  ///   - policy: The name of the policy that decides about this load; nil for the policy in force.
  ///   - progress: Called on a separate thread as bytes arrive from the network.
  /// - Returns: The image with its bytes, its source and the decision.
  /// - Throws: ``LoadError``; `nothingToShow` if only the placeholder is available, `invalidPolicy` for a
  ///   policy that does not exist or is invalid.
  public func load(
    _ item: FeedItem,
    pixels: DecodeRequest? = nil,
    facts: [String: String] = [:],
    priority: LoadPriority = .visible,
    cache: CachePolicy = .default,
    policy: String? = nil,
    progress: (@Sendable (LoadProgress) -> Void)? = nil
  ) async throws(LoadError) -> LoadedImage {
    let item = sized(item, for: pixels)
    var load = ImageLoad(loader: try deciding(by: policy), item: item, facts: facts)
    (load.handle, load.cache) = (LoadHandle(priority), cache)
    if let progress {
      load.listener = { received, _, _ in if received.received.bytes > 0 { progress(received) } }
    }
    load.pixels = { pixels }
    return try await load.run()
  }

  /// Returns a loader that decides by the policy with a name; itself for nil.
  private func deciding(by policy: String?) throws(LoadError) -> ImageLoader {
    guard let policy else { return self }
    do throws(ConfigurationError) {
      return try loader(given: [], policy: policy)
    } catch {
      throw LoadError(.invalidPolicy, message: error.description)
    }
  }
}
