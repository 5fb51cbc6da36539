package import FeedimgCache
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
  /// Nil where the program decodes itself.
  package let pixels: DecodingDesk?
  package let pressure: MemoryPressure
  let downloader: any Downloading
  package let policy: PolicyInForce
  let overrides: [CheckedOverride]
  let hostFacts: HostFacts
  let identity: RequestIdentity
  /// Seconds since 1970; may jump.
  let clock: @Sendable () -> Double
  let coalescer: Coalescer<FetchedImage>
  let revalidator: Revalidator
  let scheduler: DownloadScheduler
  package let retries: RetryController
  /// Nil where usage is not counted.
  let usage: (any UsageKeeping)?
  package let meter: UsageMeter?
  let observers: [any LoadObserving]
  /// Nil where the program loads by itself.
  let service: ServiceLink?
  package let facts: FactMonitor
  /// For waits; never jumps.
  package let time: MonotonicTime
  /// Where loads wait for files that they read; starts with the first load.
  package let disk: ThreadExecutor
  /// Where the cache and the usage ledger are written, so that no reader waits behind a write.
  package let writes: ThreadExecutor
  let stores: StoresInFlight
  /// What is being transferred now.
  let transfers: TransferRegister
  /// The uses of images in memory.
  let uses: MemoryUses
  /// The freshness of images in memory.
  let freshness = FreshnessMemo()
  /// The sources of facts beside the network, the settings and the ledger.
  let sources: FactSources
  /// What decisions are made on, as long as it stays the same.
  let snapshotCache = SnapshotCache()
  /// The loader whose parts this one shares; nil for one with parts of its own.
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
    service: ServiceLink? = nil,
    sources: FactSources = FactSources()
  ) {
    self.service = service
    self.sources = sources
    self.network = network
    self.settings = settings
    self.store = store
    self.memory = memory
    self.budget = budget
    pixels = decoder.map { DecodingDesk($0, memory, time) }
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
    let scheduler = DownloadScheduler(time)
    let retries = RetryController(time, schedule: retries)
    facts = FactMonitor(
      network: network,
      settings: settings,
      time: time,
      retries: retries,
      battery: { policy.current().asks(.battery) ? sources.battery.read().percent : nil },
      // Also where all is decided without a look at the network.
      onState: { meter?.note($0) },
      onNetwork: { state in
        downloader.forgetConnections()
        revalidator.forgetPast()
        // Before others begin, as the new network may grant more slots.
        let leave = scheduler.leavingPath()
        scheduler.enter(network: state.kind)
        // After the loads that are decided otherwise by now have ended.
        return { Task { @PipelineActor in leave() } }
      }
    )
    (self.revalidator, self.scheduler, self.retries, self.time) = (revalidator, scheduler, retries, time)
    (self.disk, self.writes, transfers, base) = (disk, writes, TransferRegister(), nil)
    uses = MemoryUses(of: store, for: identity.sent, on: writes)
    (coalescer, stores) = (Coalescer(), StoresInFlight())
    memory.whenFilled { [weak pressure] in pressure?.start() }
  }

  /// A loader that decides otherwise; images, transfers and limits are those of another one.
  init(_ base: ImageLoader, policy: PolicyInForce, overrides: [CheckedOverride]) {
    (self.base, self.policy, self.overrides) = (base, policy, overrides)
    (network, settings, hostFacts, identity) = (base.network, base.settings, base.hostFacts, base.identity)
    (store, memory, budget, pressure) = (base.store, base.memory, base.budget, base.pressure)
    (downloader, coalescer, scheduler, retries) = (
      base.downloader, base.coalescer, base.scheduler, base.retries
    )
    (revalidator, transfers, facts) = (base.revalidator, base.transfers, base.facts)
    (disk, writes, stores) = (base.disk, base.writes, base.stores)
    (usage, meter, observers, pixels) = (base.usage, base.meter, base.observers, base.pixels)
    (clock, time, service, uses) = (base.clock, base.time, base.service, base.uses)
    sources = base.sources
  }

  deinit {
    guard base == nil else { return }
    keepBandwidth()
    Task { @PipelineActor [facts] in facts.stop() }
    disk.stop()
    writes.stop()
  }

  /// Watches neither the network nor the settings until the next transfer, unless somebody waits for something, and keeps
  /// no image twice; for when nobody is likely to ask soon.
  package func rest() {
    Task { @PipelineActor [facts] in facts.rest() }
    memory.removeCopies()
  }

  /// What the user should know of the settings and the policy, such as that a file is refused.
  ///
  /// Each thing is told once, a line each.
  public var warnings: [String] {
    settings.takeWarnings() + policy.takeWarnings() + hostFacts.takeWarnings()
      + (usage?.takeWarnings() ?? [])
  }

  /// What the service of the configuration did for this loader, or why it did nothing, in words; nil before it was needed.
  public var serviceAccount: String? { service?.account }

  /// The policy that decides now, where it comes from, and why no other one does.
  public var policyInForce: PolicyStanding { policy.standing() }

  /// What a load would do now, and why.
  ///
  /// Looks at the network, the settings and the index of the cache; fetches nothing, changes nothing and never
  /// waits for another computer.
  ///
  /// - Parameters:
  ///   - item: What to decide about.
  ///   - facts: What holds of the facts that the configuration declares, by name; of one that is left out, its first
  ///     value. What is not declared counts as left out, see ``warnings``.
  /// - Returns: The decision with its reasons.
  public func resolve(_ item: FeedItem, facts: [String: String] = [:]) -> Resolution {
    resolve([item]) { _ in facts }[0]
  }

  /// What loads would do now, for items that are decided together on one look at the network and the cache.
  ///
  /// - Parameters:
  ///   - items: What to decide about.
  ///   - facts: The values of the facts that the configuration declares, for an item; see
  ///     ``resolve(_:facts:)->Resolution``.
  /// - Returns: A decision for each item, in order.
  public func resolve(
    _ items: [FeedItem],
    facts: (FeedItem) -> [String: String] = { _ in [:] }
  ) -> [Resolution] {
    resolve(items, trustingNetwork: false, facts)
  }

  /// The same; a trusted network counts as connected if it says so, even if nothing gets through.
  func resolve(
    _ items: [FeedItem],
    trustingNetwork: Bool,
    _ facts: (FeedItem) -> [String: String]
  ) -> [Resolution] {
    var context = decisionContext(trustingNetwork: trustingNetwork)
    let isCached = presence(of: items, context)
    return items.map { item in
      context.resolution(of: item, hostFacts.declared(in: facts(item)), isCached: isCached)
    }
  }

  /// Holds to the limits that the user has set, also after they changed.
  func follow(_ settings: UserSettings) {
    store.follow(settings)
    memory.setLimits(budget.limits(settings))
  }

  /// Loads the image of an item that the policy chooses: from memory, from disk, or from the network.
  ///
  /// Whoever asks for an image that is being loaded joins that load; cancelling the task leaves it, and the last
  /// one to leave stops the transfer. If the original cannot be had after the last try, the thumbnail takes its place,
  /// where the policy would show it, and ``LoadedImage/failure`` says why. A cached image is returned at once; if it may
  /// be out of date and the policy would fetch it now, its server is asked about it meanwhile, see
  /// ``revalidation(of:)``.
  ///
  /// - Parameters:
  ///   - item: What to load.
  ///   - pixels: At which size to decode it, for ``LoadedImage/bitmap``; takes a decoder in the configuration. An
  ///     original that cannot be decoded gives way to the thumbnail.
  ///   - facts: See ``resolve(_:facts:)->Resolution``.
  ///   - priority: How urgent it is beside other loads.
  ///   - progress: Called on a thread of its own as bytes arrive from the network.
  /// - Returns: The image with its bytes, its source and the decision that led to it.
  /// - Throws: ``LoadError``; `nothingToShow` where the placeholder is all there is.
  public func load(
    _ item: FeedItem,
    pixels: DecodeRequest? = nil,
    facts: [String: String] = [:],
    priority: LoadPriority = .visible,
    progress: (@Sendable (LoadProgress) -> Void)? = nil
  ) async throws(LoadError) -> LoadedImage {
    var load = ImageLoad(loader: self, item: item, facts: facts)
    (load.handle, load.progress) = (LoadHandle(priority), progress)
    load.pixels = { pixels }
    return try await load.run()
  }
}

extension CompiledPolicy {
  /// Whether a rule depends on what data costs.
  var asksAboutCost: Bool { table.columns.contains { $0 == .metered || $0 == .roaming } }
}
