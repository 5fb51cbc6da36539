package import FeedimgHTTPCache
package import FeedimgModel
package import FeedimgSystem
import FeedimgTransfer
import FeedimgUsage
import Synchronization

/// The cache, the scheduler, the circuits, the facts and the threads that loaders share.
package final class LoaderResources: Sendable {
  let network: any NetworkMonitoring
  let settings: any SettingsReading
  package let store: any ImageStoring
  package let memory: MemoryCache
  let budget: MemoryBudget
  /// Decodes pixels; nil if the program decodes images itself.
  package let pixels: DecodingQueue?
  package let pressure: MemoryPressure
  let downloader: any Downloading
  /// The policy of the program; single loads may use another one.
  let policy: PolicyInForce
  let hostFacts: HostFacts
  /// The header fields and timeouts of the program's requests; single loads may add fields.
  let identity: RequestIdentity
  /// Seconds since 1970; may jump.
  let clock: @Sendable () -> Double
  /// The clock for waits, which never jumps.
  package let time: MonotonicTime
  let coalescer = Coalescer<FetchedImage>()
  let revalidator: Revalidator
  let scheduler: DownloadScheduler
  package let retries: RetryController
  package let facts: FactMonitor
  /// The ledger; nil if usage is not counted.
  let usage: (any UsageKeeping)?
  package let meter: UsageMeter?
  let observers: [any LoadObserving]
  /// The service; nil if this process loads images itself.
  let service: ServiceClient?
  /// The thread on which loads read files; starts with the first load.
  package let disk = ThreadExecutor("feedimg-disk")
  /// The thread that writes the cache and the usage ledger, so that no reader waits behind a write.
  package let writes: ThreadExecutor
  let stores = StoresInFlight()
  package let transfers = TransferRegistry()
  let uses: MemoryUseRecorder
  /// The stored bandwidth; nil if nothing is kept between runs.
  let bandwidthMemory: BandwidthMemory?
  /// The policies that callers name for single loads.
  let namedPolicies = NamedPolicies()

  package init(
    network: any NetworkMonitoring,
    settings: any SettingsReading,
    store: any ImageStoring,
    memory: MemoryCache,
    downloader: any Downloading,
    policy: PolicyInForce,
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
    (self.network, self.settings, self.store, self.memory) = (network, settings, store, memory)
    (self.downloader, self.policy, self.hostFacts, self.budget) = (downloader, policy, hostFacts, budget)
    (self.clock, self.time, self.usage, self.observers) = (clock, time, usage, observers)
    (self.identity, self.service, self.bandwidthMemory) = (identity, service, bandwidthMemory)
    pixels = decoder.map { DecodingQueue($0, memory) { identity.key(of: $0) } }
    pressure = MemoryPressure(memory, environment: environment)
    let writes = ThreadExecutor("feedimg-writes")
    let meter = usage.map { UsageMeter($0, network: network, time: time, on: writes) }
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
    (self.revalidator, self.scheduler, self.retries) = (revalidator, scheduler, retries)
    (self.writes, self.meter) = (writes, meter)
    uses = MemoryUseRecorder(of: store, for: identity.sent, on: writes)
    memory.whenFilled { [weak pressure] in pressure?.start() }
  }

  deinit {
    saveBandwidth()
    disk.stop()
    writes.stop()
  }

  /// Applies the user's limits, also after they changed.
  func follow(_ settings: UserSettings) {
    store.follow(settings)
    memory.setLimits(budget.limits(settings))
  }

  /// Writes the measured bandwidth for the next run.
  package func saveBandwidth() {
    guard let memory = bandwidthMemory, let live = scheduler.link.withLock({ $0.reported }) else { return }
    _ = memory.note(live, network.currentState(), at: clock())
    memory.flush()
  }

  /// Reads the cost of data from services from now on, whatever the policy depends on.
  ///
  /// - Returns: Whether the cost was not read before.
  @discardableResult
  func requireCost() -> Bool {
    guard policy.requireCost() else { return false }
    network.refresh()
    _ = currentNetwork()
    return true
  }

  /// The current state of the network, which the ledger and the monitor also hear.
  func currentNetwork() -> NetworkState {
    let state = network.currentState()
    meter?.note(state)
    facts.observed(state)
    return state
  }
}
